"""What figures share: style, layout, axes, lines, panels."""
