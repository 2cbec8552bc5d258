/** Sentences in thirteen languages that hold one value each, and sentences in the same languages that hold none; drawn, the same each time. */
import {
  card,
  digits,
  type Draw,
  drawing,
  iban,
  key,
  password,
  PERSONS,
  pick,
  two,
  type What,
  year,
} from "./drawn_values.ts";
import { LANGUAGES } from "./languages.ts";

export interface Sample {
  language: string;
  what: What;
  text: string;
  start: number;
  end: number;
}

function valueOf(name: string, what: What, draw: Draw): string {
  const language = LANGUAGES[name];
  switch (what) {
    case "card":
      return card(draw);
    case "iban":
      return iban(draw, language.account[0], language.account[1](draw));
    case "person":
      return PERSONS[name](draw);
    case "phone":
      return language.phone(draw);
    case "born":
      return language.date(two(1 + draw(28)), two(1 + draw(12)), String(year(draw)));
    case "password":
      return password(draw);
    case "key":
      return key(draw);
  }
}

export function* samples(seed: number, each: number): Generator<Sample> {
  const draw = drawing(seed);
  for (const [language, { labels, frames }] of Object.entries(LANGUAGES)) {
    for (const [what, names] of Object.entries(labels) as [What, readonly string[]][]) {
      for (let i = 0; names.length > 0 && i < each; i++) {
        const value = valueOf(language, what, draw);
        const [before, behind] = pick(draw, frames).split("V").map((half) =>
          half.replace("L", () => pick(draw, names))
        );
        yield {
          language,
          what,
          text: before + value + behind,
          start: before.length,
          end: before.length + value.length,
        };
      }
    }
  }
}

/** Ordinary text, a paragraph in one language: room and order numbers, days, times, and names of fields without values. */
export function clean(seed: number, size: number): string {
  const draw = drawing(seed);
  let text = "";
  const all = Object.values(LANGUAGES);
  while (text.length < size) {
    const { clean, labels, date } = pick(draw, all);
    const names = Object.values(labels).flat();
    const sentence = () =>
      pick(draw, clean).replace(
        /\{(.)\}/g,
        (_, c) =>
          c === "N"
            ? digits(draw, 1 + draw(9)).replace(/^0+(?=.)/, "")
            : c === "M"
            ? String(draw(500))
            : c === "T"
            ? `${two(draw(24))}:${two(draw(60))}`
            : c === "D"
            ? date(two(1 + draw(28)), two(1 + draw(12)), String(2015 + draw(10)))
            : pick(draw, names),
      );
    text += `${sentence()} ${sentence()}\n${sentence()}\n\n`;
  }
  return text;
}
