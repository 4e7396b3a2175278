"""What a page of a reader's locale writes in another format."""

from __future__ import annotations

from playwright.sync_api import Page

from tests.site.written import LOCALES, wrongly_written

# All that a page says, also what is closed, but for code, what people have typed, and the choice
# among formats.
_TEXTS = """() => {
  const texts = [];
  const left = "script, style, code, pre, textarea, template, noscript, [name=locale]";
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const { data, parentElement } = walker.currentNode;
    if (data.trim() && !parentElement.closest(left)) texts.push(data);
  }
  for (const name of ["title", "aria-label", "aria-valuetext", "alt", "placeholder"]) {
    const elements = document.querySelectorAll(`body [${name}]:not(textarea)`);
    for (const element of elements) texts.push(element.getAttribute(name));
  }
  return [document.documentElement.dataset.locale, texts];
}"""


def wrongly_written_on(page: Page) -> list[str]:
    """The numbers, days and percents of a page that are not as its locale writes them, each within
    its text."""
    locale, texts = page.evaluate(_TEXTS)
    if locale not in LOCALES or "/docs" in page.url:  # the reference is alike for everybody
        return []
    return [
        f"{each} in {locale}: {text.strip()[:100]}"
        for text in texts
        for each in wrongly_written(text, locale)
    ]
