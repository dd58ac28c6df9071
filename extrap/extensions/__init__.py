"""One extension per file: a method that makes a trained model usable beyond its training length."""
