/** Sentences in twelve languages that hold one value each, and sentences in the same languages that hold none; drawn, the same each time. */

export type Draw = (below: number) => number;

/** Numbers below what is asked for, the same for each seed (xorshift32). */
export function drawing(seed: number): Draw {
  let state = seed * 2654435761 >>> 0 || 1;
  return (below) => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) % below;
  };
}

const digits = (draw: Draw, n: number) => Array.from({ length: n }, () => draw(10)).join("");
const pick = <T>(draw: Draw, all: readonly T[]): T => all[draw(all.length)];
const sum = (s: string, weights: readonly number[]) =>
  weights.reduce((total, w, i) => total + w * Number(s[i]), 0);
const two = (n: number) => String(n).padStart(2, "0");

export function luhn(body: string): string {
  let total = 0;
  [...body].reverse().forEach((c, i) => {
    const n = Number(c) * (i % 2 === 0 ? 2 : 1);
    total += n > 9 ? n - 9 : n;
  });
  return body + (10 - total % 10) % 10;
}

function card(draw: Draw): string {
  const number = luhn(pick(draw, ["4", "51", "53", "55", "2221", "2720"]).padEnd(4, "7") + digits(draw, 11));
  const groups = number.match(/.{4}/g)!;
  return pick(draw, [number, groups.join(" "), groups.join("-")]);
}

export function iban(draw: Draw, country: string, account: string): string {
  const rearranged = `${account}${country}00`.replace(/[A-Z]/g, (c) => String(c.charCodeAt(0) - 55));
  let rest = 0;
  for (const c of rearranged) rest = (rest * 10 + Number(c)) % 97;
  const whole = `${country}${two(98 - rest)}${account}`;
  return draw(2) === 0 ? whole : whole.replace(/(.{4})(?=.)/g, "$1 ");
}

const year = (draw: Draw) => 1950 + draw(55);

/** A number of a person with the check digits of its country. */
export const PERSONS: Record<string, (draw: Draw) => string> = {
  fr(draw) {
    const body = `${1 + draw(2)}${two(50 + draw(49))}${two(1 + draw(12))}${two(1 + draw(94))}${
      digits(draw, 6)
    }`;
    return body + two(97 - Number(BigInt(body) % 97n));
  },
  es(draw) {
    const body = digits(draw, 8);
    return body + "TRWAGMYFPDXBNJZSQVHLCKE"[Number(body) % 23];
  },
  pt(draw) {
    const body = `2${digits(draw, 7)}`;
    const rest = sum(body, [9, 8, 7, 6, 5, 4, 3, 2]) % 11;
    return body + (rest < 2 ? 0 : 11 - rest);
  },
  it(draw) {
    const letters = (n: number) => Array.from({ length: n }, () => pick(draw, [..."BCDFGLMNPRST"])).join("");
    const body = `${letters(6)}${two(50 + draw(49))}${pick(draw, [..."ABCDEHLMPRST"])}${two(1 + draw(28))}H${
      digits(draw, 3)
    }`;
    const odd = [
      1,
      0,
      5,
      7,
      9,
      13,
      15,
      17,
      19,
      21,
      2,
      4,
      18,
      20,
      11,
      3,
      6,
      8,
      12,
      14,
      16,
      10,
      22,
      25,
      24,
      23,
    ];
    const total = [...body].reduce((n, c, i) => {
      const value = c < "A" ? Number(c) : c.charCodeAt(0) - 65;
      return n + (i % 2 === 0 ? odd[value] : value);
    }, 0);
    return body + String.fromCharCode(65 + total % 26);
  },
  de(draw) {
    for (;;) {
      const body = `${1 + draw(9)}${digits(draw, 9)}`;
      const counts = new Map<string, number>();
      for (const c of body) counts.set(c, (counts.get(c) ?? 0) + 1);
      if (counts.size !== 9 || Math.max(...counts.values()) !== 2) continue;
      let product = 10;
      for (const c of body) {
        const total = (Number(c) + product) % 10 || 10;
        product = total * 2 % 11;
      }
      const check = 11 - product;
      return body + (check === 10 ? 0 : check);
    }
  },
  nl(draw) {
    for (;;) {
      const body = `${1 + draw(8)}${digits(draw, 7)}`;
      const check = sum(body, [9, 8, 7, 6, 5, 4, 3, 2]) % 11;
      if (check < 10) return body + check;
    }
  },
  pl(draw) {
    const body = `${two(year(draw) % 100)}${two(1 + draw(12))}${two(1 + draw(28))}${digits(draw, 4)}`;
    return body + (10 - sum(body, [1, 3, 7, 9, 1, 3, 7, 9, 1, 3]) % 10) % 10;
  },
  ru(draw) {
    const body = `77${digits(draw, 8)}`;
    const first = sum(body, [7, 2, 4, 10, 3, 5, 9, 4, 6, 8]) % 11 % 10;
    const second = sum(body + first, [3, 7, 2, 4, 10, 3, 5, 9, 4, 6, 8]) % 11 % 10;
    return `${body}${first}${second}`;
  },
  tr(draw) {
    const b = `${1 + draw(9)}${digits(draw, 8)}`;
    const odd = sum(b, [1, 0, 1, 0, 1, 0, 1, 0, 1]);
    const even = sum(b, [0, 1, 0, 1, 0, 1, 0, 1, 0]);
    const tenth = ((odd * 7 - even) % 10 + 10) % 10;
    return `${b}${tenth}${(odd + even + tenth) % 10}`;
  },
  zh(draw) {
    const body = `${pick(draw, ["110105", "310104", "440305", "510107"])}${year(draw)}${two(1 + draw(12))}${
      two(1 + draw(28))
    }${digits(draw, 3)}`;
    return body + "10X98765432"[sum(body, [7, 9, 10, 5, 8, 4, 2, 1, 6, 3, 7, 9, 10, 5, 8, 4, 2]) % 11];
  },
  ko(draw) {
    const body = `${two(60 + draw(39))}${two(1 + draw(12))}${two(1 + draw(28))}${1 + draw(2)}${
      digits(draw, 5)
    }`;
    const check = (11 - sum(body, [2, 3, 4, 5, 6, 7, 8, 9, 2, 3, 4, 5]) % 11) % 10;
    return `${body.slice(0, 6)}-${body.slice(6)}${check}`;
  },
};

const ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
const random = (draw: Draw, n: number) => Array.from({ length: n }, () => pick(draw, [...ALPHABET])).join("");

function password(draw: Draw): string {
  const word = pick(draw, ["Regen", "Mond", "vela", "Kafe", "tigre", "Luna"]);
  return `${word}${pick(draw, ["!", "$", "#", "%"])}${digits(draw, 4)}${pick(draw, ["x", "Q", "zt", "Km"])}`;
}

function key(draw: Draw): string {
  return pick(draw, [
    () => `ghp_${random(draw, 36)}`,
    () => `sk_live_${random(draw, 24)}`,
    () =>
      `AKIA${Array.from({ length: 16 }, () => pick(draw, [..."ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"])).join("")}`,
    () => `glpat-${random(draw, 20)}`,
  ])();
}

export type What = "card" | "iban" | "person" | "phone" | "born" | "password" | "key";

/** Which types tell each. */
export const TYPES: Record<What, RegExp> = {
  card: /^CREDIT_CARD$/,
  iban: /^IBAN_CODE$/,
  person:
    /^(?:US_SSN|FR_NIR|ES_NIF|PT_NIF|IT_FISCAL_CODE|DE_TAX_ID|NL_BSN|PL_PESEL|RU_INN|TR_NATIONAL_ID|CN_RESIDENT_ID|KR_RRN)$/,
  phone: /^PHONE_NUMBER$/,
  born: /^DATE_OF_BIRTH$/,
  password: /^(?:PASSWORD|GENERIC_SECRET|API_KEY)$/,
  key: /^(?:[A-Z_]*(?:TOKEN|KEY)|GENERIC_SECRET)$/,
};

interface Language {
  labels: Record<What, readonly string[]>;
  /** `L` the label, `V` the value. */
  frames: readonly string[];
  clean: readonly string[];
  phone(draw: Draw): string;
  date(d: string, m: string, y: string): string;
  account: [country: string, account: (draw: Draw) => string];
}

const dotted = (d: string, m: string, y: string) => `${d}.${m}.${y}`;
const slashed = (d: string, m: string, y: string) => `${d}/${m}/${y}`;
const iso = (d: string, m: string, y: string) => `${y}-${m}-${d}`;
const asian = (d: string, m: string, y: string) => `${y}年${Number(m)}月${Number(d)}日`;

export const LANGUAGES: Record<string, Language> = {
  en: {
    labels: {
      card: ["card", "credit card number", "Visa"],
      iban: ["IBAN", "account"],
      person: [],
      phone: ["phone", "mobile", "call me at"],
      born: ["date of birth", "DOB", "born on"],
      password: ["password", "passphrase"],
      key: ["token", "API key"],
    },
    frames: [
      "Hi Tom, the L is V, thanks.",
      "L: V",
      "// TODO remove: L = V",
      "| L | V |",
      "> my L: V\n> cheers",
    ],
    clean: [
      "The room {N} is booked at {T}.",
      "Order {N} ships on {D}.",
      "Version {N}.2 fixes {L} handling.",
      "Page {N} of {M}; total {N} pcs.",
    ],
    phone: (draw) => `+1 415 ${2 + draw(8)}${digits(draw, 2)} ${digits(draw, 4)}`,
    date: iso,
    account: ["GB", (draw) => `NWBK${digits(draw, 14)}`],
  },
  fr: {
    labels: {
      card: ["carte bancaire", "numéro de carte", "CB"],
      iban: ["IBAN", "compte"],
      person: ["numéro de sécurité sociale", "NIR", "n° de sécu"],
      phone: ["téléphone", "portable", "tél."],
      born: ["date de naissance", "né le", "née le"],
      password: ["mot de passe", "mdp"],
      key: ["clé API", "jeton"],
    },
    frames: [
      "Bonjour, voici L : V, merci.",
      "L : V",
      "# à supprimer, L V",
      "Mon L est V.",
      "- L : V\n- ville : Lyon",
    ],
    clean: [
      "La salle {N} est libre à {T}.",
      "La commande {N} part le {D}.",
      "Le {L} est obligatoire.",
      "Page {N} sur {M}, soit {N} pièces.",
    ],
    phone: (draw) =>
      `0${6 + draw(2)} ${two(draw(90) + 10)} ${two(draw(90) + 10)} ${two(draw(90) + 10)} ${
        two(draw(90) + 10)
      }`,
    date: slashed,
    account: ["FR", (draw) => digits(draw, 23)],
  },
  es: {
    labels: {
      card: ["tarjeta", "número de tarjeta", "tarjeta de crédito"],
      iban: ["IBAN", "cuenta"],
      person: ["DNI", "NIF", "documento de identidad"],
      phone: ["teléfono", "móvil", "celular"],
      born: ["fecha de nacimiento", "nacido el", "nacida el"],
      password: ["contraseña", "clave"],
      key: ["clave de API", "token"],
    },
    frames: [
      "Hola, mi L es V, gracias.",
      "L: V",
      "// borrar luego: L = V",
      "L V",
      "Datos:\n  L: V\n  ciudad: Lugo",
    ],
    clean: [
      "La sala {N} queda libre a las {T}.",
      "El pedido {N} sale el {D}.",
      "La {L} es obligatoria.",
      "Página {N} de {M}, {N} unidades.",
    ],
    phone: (draw) => `6${digits(draw, 2)} ${digits(draw, 3)} ${digits(draw, 3)}`,
    date: slashed,
    account: ["ES", (draw) => digits(draw, 20)],
  },
  pt: {
    labels: {
      card: ["cartão", "número do cartão", "cartão de crédito"],
      iban: ["IBAN", "conta"],
      person: ["NIF", "contribuinte"],
      phone: ["telefone", "telemóvel", "celular"],
      born: ["data de nascimento", "nascido em", "nascida em"],
      password: ["senha", "palavra-passe"],
      key: ["chave de API", "token"],
    },
    frames: ["Olá, o meu L é V, obrigado.", "L: V", "# apagar: L V", "L = V", "Ficha\nL: V\ncidade: Braga"],
    clean: [
      "A sala {N} está livre às {T}.",
      "A encomenda {N} sai em {D}.",
      "A {L} é obrigatória.",
      "Página {N} de {M}, {N} peças.",
    ],
    phone: (draw) => `91${digits(draw, 1)} ${digits(draw, 3)} ${digits(draw, 3)}`,
    date: slashed,
    account: ["PT", (draw) => digits(draw, 21)],
  },
  it: {
    labels: {
      card: ["carta", "numero della carta", "carta di credito"],
      iban: ["IBAN", "conto"],
      person: ["codice fiscale", "C.F."],
      phone: ["telefono", "cellulare", "tel."],
      born: ["data di nascita", "nato il", "nata il"],
      password: ["password", "parola d'ordine"],
      key: ["chiave API", "token"],
    },
    frames: [
      "Ciao, il mio L è V, grazie.",
      "L: V",
      "// da togliere: L = V",
      "L V",
      "Modulo\nL: V\ncittà: Asti",
    ],
    clean: [
      "La sala {N} è libera alle {T}.",
      "L'ordine {N} parte il {D}.",
      "La {L} è obbligatoria.",
      "Pagina {N} di {M}, {N} pezzi.",
    ],
    phone: (draw) => `34${digits(draw, 1)} ${digits(draw, 3)} ${digits(draw, 4)}`,
    date: slashed,
    account: ["IT", (draw) => `X${digits(draw, 22)}`],
  },
  de: {
    labels: {
      card: ["Kreditkarte", "Kartennummer", "Kreditkartennummer"],
      iban: ["IBAN", "Konto"],
      person: ["Steuer-ID", "Steueridentifikationsnummer", "IdNr"],
      phone: ["Telefon", "Handynummer", "Rufnummer"],
      born: ["Geburtsdatum", "geboren am", "geb."],
      password: ["Passwort", "Kennwort"],
      key: ["API-Schlüssel", "Token"],
    },
    frames: [
      "Hallo, L lautet V, danke.",
      "L: V",
      "// bitte löschen: L = V",
      "meine L: V",
      "Formular\nL: V\nOrt: Bonn",
    ],
    clean: [
      "Raum {N} ist um {T} frei.",
      "Bestellung {N} geht am {D} raus.",
      "{L} ist ein Pflichtfeld.",
      "Seite {N} von {M}, {N} Stück.",
    ],
    phone: (draw) => `0171 ${2 + draw(8)}${digits(draw, 6)}`,
    date: dotted,
    account: ["DE", (draw) => digits(draw, 18)],
  },
  nl: {
    labels: {
      card: ["creditcard", "kaartnummer", "creditcardnummer"],
      iban: ["IBAN", "rekening"],
      person: ["BSN", "burgerservicenummer"],
      phone: ["telefoon", "mobiel", "telefoonnummer"],
      born: ["geboortedatum", "geboren op"],
      password: ["wachtwoord", "wachtwoord"],
      key: ["API-sleutel", "token"],
    },
    frames: [
      "Hoi, mijn L is V, bedankt.",
      "L: V",
      "// weghalen: L = V",
      "L V",
      "Formulier\nL: V\nplaats: Ede",
    ],
    clean: [
      "Zaal {N} is om {T} vrij.",
      "Bestelling {N} gaat op {D} weg.",
      "{L} is verplicht.",
      "Pagina {N} van {M}, {N} stuks.",
    ],
    phone: (draw) => `06 ${1 + draw(8)}${digits(draw, 7)}`,
    date: (d, m, y) => `${d}-${m}-${y}`,
    account: ["NL", (draw) => `INGB${digits(draw, 10)}`],
  },
  pl: {
    labels: {
      card: ["karta", "numer karty", "karta kredytowa"],
      iban: ["IBAN", "konto"],
      person: ["PESEL", "numer PESEL"],
      phone: ["telefon", "komórka", "numer telefonu"],
      born: ["data urodzenia", "urodzony", "ur."],
      password: ["hasło", "hasło"],
      key: ["klucz API", "token"],
    },
    frames: [
      "Cześć, L to V, dzięki.",
      "L: V",
      "// usunąć: L = V",
      "mój L: V",
      "Formularz\nL: V\nmiasto: Opole",
    ],
    clean: [
      "Sala {N} jest wolna o {T}.",
      "Zamówienie {N} rusza {D}.",
      "{L} jest wymagane.",
      "Strona {N} z {M}, {N} sztuk.",
    ],
    phone: (draw) => `5${digits(draw, 2)} ${digits(draw, 3)} ${digits(draw, 3)}`,
    date: dotted,
    account: ["PL", (draw) => digits(draw, 24)],
  },
  ru: {
    labels: {
      card: ["карта", "номер карты", "банковская карта"],
      iban: [],
      person: ["ИНН", "мой ИНН"],
      phone: ["телефон", "мобильный", "тел."],
      born: ["дата рождения", "родился", "родилась"],
      password: ["пароль", "пароль"],
      key: ["ключ API", "токен"],
    },
    frames: ["Привет, вот L: V, спасибо.", "L: V", "// удалить: L = V", "L — V", "Анкета\nL: V\nгород: Тула"],
    clean: [
      "Зал {N} свободен в {T}.",
      "Заказ {N} уходит {D}.",
      "Поле {L} обязательно.",
      "Страница {N} из {M}, {N} штук.",
    ],
    phone: (draw) =>
      `8 (9${digits(draw, 2)}) ${1 + draw(9)}${digits(draw, 2)}-${digits(draw, 2)}-${digits(draw, 2)}`,
    date: dotted,
    account: ["DE", (draw) => digits(draw, 18)],
  },
  tr: {
    labels: {
      card: ["kart", "kart numarası", "kredi kartı"],
      iban: ["IBAN", "hesap"],
      person: ["TC kimlik no", "T.C. kimlik numarası"],
      phone: ["telefon", "cep", "telefon numarası"],
      born: ["doğum tarihi", "doğum günü"],
      password: ["şifre", "parola"],
      key: ["API anahtarı", "token"],
    },
    frames: [
      "Merhaba, L şu: V, teşekkürler.",
      "L: V",
      "// silinecek: L = V",
      "L V",
      "Form\nL: V\nşehir: Bursa",
    ],
    clean: [
      "{N} numaralı salon {T} saatinde boş.",
      "{N} numaralı sipariş {D} günü çıkar.",
      "{L} zorunludur.",
      "Sayfa {N} / {M}, {N} adet.",
    ],
    phone: (draw) => `0532 ${1 + draw(9)}${digits(draw, 2)} ${digits(draw, 2)} ${digits(draw, 2)}`,
    date: dotted,
    account: ["TR", (draw) => `${digits(draw, 5)}0${digits(draw, 16)}`],
  },
  zh: {
    labels: {
      card: ["信用卡号", "卡号", "银行卡号"],
      iban: [],
      person: ["身份证号", "身份证号码"],
      phone: ["手机号", "电话", "联系电话"],
      born: ["出生日期", "生日"],
      password: ["密码", "口令"],
      key: ["密钥", "令牌"],
    },
    frames: ["你好,我的L是V,谢谢。", "L:V", "// 待删除:L = V", "L V", "表格\nL:V\n城市:杭州"],
    clean: ["第{N}号会议室在{T}空闲。", "订单{N}于{D}发货。", "{L}为必填项。", "第{N}页,共{M}页,{N}件。"],
    phone: (draw) => `13${digits(draw, 1)} ${digits(draw, 4)} ${digits(draw, 4)}`,
    date: asian,
    account: ["DE", (draw) => digits(draw, 18)],
  },
  ja: {
    labels: {
      card: ["カード番号", "クレジットカード", "クレジットカード番号"],
      iban: [],
      person: [],
      phone: ["電話番号", "携帯", "電話"],
      born: ["生年月日", "誕生日"],
      password: ["パスワード", "暗証番号"],
      key: ["APIキー", "トークン"],
    },
    frames: ["お世話になります。LはVです。", "L:V", "// 削除予定 L = V", "L V", "申込書\nL:V\n市:奈良"],
    clean: [
      "会議室{N}は{T}に空きます。",
      "注文{N}は{D}に発送します。",
      "{L}は必須です。",
      "{N}/{M}ページ、{N}個。",
    ],
    phone: (draw) => `090-${digits(draw, 4)}-${digits(draw, 4)}`,
    date: asian,
    account: ["DE", (draw) => digits(draw, 18)],
  },
  ko: {
    labels: {
      card: ["카드번호", "신용카드", "신용카드 번호"],
      iban: [],
      person: ["주민등록번호", "주민번호"],
      phone: ["전화번호", "휴대폰", "연락처"],
      born: ["생년월일", "생일"],
      password: ["비밀번호", "암호"],
      key: ["API 키", "토큰"],
    },
    frames: ["안녕하세요, 제 L는 V입니다.", "L: V", "// 삭제 예정: L = V", "L V", "신청서\nL: V\n도시: 대구"],
    clean: [
      "회의실 {N}은 {T}에 비어 있습니다.",
      "주문 {N}은 {D}에 발송됩니다.",
      "{L}는 필수입니다.",
      "{N}/{M}쪽, {N}개.",
    ],
    phone: (draw) => `010-${1 + draw(9)}${digits(draw, 3)}-${digits(draw, 4)}`,
    date: (d, m, y) => `${y}년 ${Number(m)}월 ${Number(d)}일`,
    account: ["DE", (draw) => digits(draw, 18)],
  },
};

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
