"""Networks without PyTorch: their files (`checkpoint`), the compiled layers, and the layout of weights that these read."""
