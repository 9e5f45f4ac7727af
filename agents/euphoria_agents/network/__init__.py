"""Networks without PyTorch: the compiled layers (`kernels`) and the files they are kept in (`checkpoint`)."""
