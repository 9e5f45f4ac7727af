"""The environments: PettingZoo AEC (`aec`), one learning seat for Gymnasium (`single`)."""
