// The language of the pages: the one chosen, or else the first of the browser's that there is.

import { tag } from "./elements.js";
import { keep, kept } from "./library.js";
import { useCatalogue } from "./texts.js";

const LANGUAGES = { en: "English", es: "Español" }; // each but English has a catalogue of its name
const asked = new URLSearchParams(location.search).get("lang");
if (Object.hasOwn(LANGUAGES, asked)) keep("language", asked);
const wanted = [kept("language"), ...navigator.languages].map((code) => String(code).split("-")[0]);
const language = wanted.find((code) => Object.hasOwn(LANGUAGES, code)) ?? "en";

// A select element for the language; the page reloads in the one that is chosen.
export const languageSelect = () =>
  tag.select(
    {
      id: "language",
      "aria-label": "language",
      onchange: ({ target }) => {
        keep("language", target.value);
        history.replaceState(null, "", location.pathname + location.hash);
        location.reload();
      },
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
