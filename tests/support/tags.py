"""Tags of a page of HTML, for tests."""

from html.parser import HTMLParser


class Tags(HTMLParser):
    """Every tag with its attributes, and the text inside each kind."""

    def __init__(self, text: str):
        super().__init__()
        self.tags: list[tuple[str, dict]] = []
        self.inside: dict[str, list[str]] = {}
        self.open: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        if tag not in ("meta", "input", "img", "use", "path", "br"):
            self.open.append(tag)

    def handle_endtag(self, tag):
        if tag in self.open:
            while self.open.pop() != tag:
                pass

    def handle_data(self, data):
        for tag in set(self.open):
            self.inside.setdefault(tag, []).append(data)
