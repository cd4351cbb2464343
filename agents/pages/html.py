"""HTML templates: autoescape everywhere, no undefined name passes, and blocks leave no empty lines."""

from jinja2 import Environment, PackageLoader, StrictUndefined


def html_templates(package: str, folder: str = ".") -> Environment:
    """Return the templates of a package's folder; whoever asks adds filters of its own."""
    return Environment(
        loader=PackageLoader(package, folder),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
