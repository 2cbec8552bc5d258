/** Labels, sentences, telephone numbers, dates and accounts in thirteen languages. */
import { digits, type Draw, two, type What } from "./drawn_values.ts";

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
