"""The study of recipes on a grid."""
