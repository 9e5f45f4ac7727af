// The language of the pages, which the server has found: the one chosen, or else the first of the browser's that there is.

import { tag } from "./elements.js";
import { useCatalogue } from "./texts.js";

const LANGUAGES = { en: "English", es: "Español" }; // each but English has a catalogue of its name
export const language = document.documentElement.lang;

// A select element for the language; the page reloads in the one that is chosen.
export const languageSelect = () =>
  tag.select(
    {
      id: "language",
      "aria-label": "language",
      onchange: ({ target }) => location.assign(`${location.pathname}?lang=${target.value}${location.hash}`),
    },
    Object.entries(LANGUAGES).map(([value, name]) =>
      tag.option({ value, translate: "no", lang: value, selected: value === language }, name),
    ),
  );

if (language !== "en") {
  try {
    const found = await fetch(new URL(`texts.${language}.json`, import.meta.url));
    useCatalogue(await found.json(), language);
  } catch (error) {
    console.error(`texts.${language}.json: ${error.message}; the page stays in English`);
  }
}
