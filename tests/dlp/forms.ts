/**
 * Records as forms, letters, chats and files of thirteen languages have them: other words, other places of the label and
 * other punctuation than those of languages.ts, written before anything was measured on them. Values are drawn.
 */
import { type Draw, drawing, iban, luhn, PERSONS, type What } from "./drawn_values.ts";
import { LANGUAGES } from "./languages.ts";

/** C card, I IBAN, P number of a person, T telephone, B day of birth, W password, K key. */
export const FORMS: Readonly<Record<string, readonly string[]>> = {
  en: [
    "APPLICANT DETAILS\nForename(s): Moira\nDOB (dd/mm/yyyy) .......... {B}\nDaytime telephone ......... {T}",
    "Patient: M. Okafor | D.O.B. {B} | SSN {P} | ph {T}",
    "Please debit my Visa {C}, expiry 04/29.",
    "Payment was taken from card ending... full PAN for the chargeback desk: {C}",
    "BACS/SEPA refund to IBAN no. {I} by Friday please",
    "the wifi pass is {W} and the guest one is on the fridge",
    "login: moira / pw: {W}",
    "export API_TOKEN={K}",
    "curl -H 'Authorization: Bearer {K}' https://api.example.test/v2/me",
    "Soc. Sec. No. {P}\nDate of Birth {B}\nHome Phone {T}",
    "name,dob,social_security_number,phone\nOkafor,{B},{P},{T}",
    "<tr><td>Card number</td><td>{C}</td></tr>",
    "Hi, I was born on {B} and my social is {P}, can you check my file?",
    "Tel. (home): {T}\nAccount (IBAN): {I}",
    "INSERT INTO payers (pan, iban) VALUES ('{C}', '{I}');",
    "temporary password - {W} - change it on first login",
  ],
  de: [
    "Angaben zur Person\nGeburtsdatum:   {B}\nSteuerliche Identifikationsnummer:   {P}\nTelefon (tagsüber):   {T}",
    "Ich ermächtige Sie, Zahlungen von meinem Konto {I} einzuziehen.",
    "Kontoverbindung: IBAN {I}, BIC siehe Anlage",
    "Steuer-ID {P}, geb. {B}",
    "IdNr. {P}",
    "Bitte rufen Sie mich unter {T} zurück.",
    "Die Kreditkartennummer lautet {C}, gültig bis 03/28.",
    "Kartennr.: {C}",
    "Das WLAN-Passwort ist {W}.",
    "Benutzer: admin\nKennwort: {W}",
    "Zugangsdaten:\n- Nutzer: hwagner\n- PW: {W}",
    "API-Schlüssel für das Testsystem: {K}",
    "geboren am {B} in Gotha, Tel.: {T}",
    "Name;Geburtsdatum;Steuer-IdNr;IBAN\nWagner;{B};{P};{I}",
    "Patient, *{B}, tel. erreichbar {T}",
  ],
  fr: [
    "Né(e) le : {B}\nN° de sécurité sociale : {P}\nTéléphone portable : {T}",
    "N° d'immatriculation à la sécurité sociale {P}",
    "Vous pouvez me joindre au {T} après 18 h.",
    "Prélèvement sur le compte IBAN {I} (titulaire : moi-même)",
    "Coordonnées bancaires : {I}",
    "Carte bleue n° {C}, exp. 09/27",
    "J'ai réglé avec la carte {C}.",
    "Votre mot de passe provisoire : {W}",
    "identifiant : mleroy / mdp : {W}",
    "date_naissance;nir;tel\n{B};{P};{T}",
    "Assuré : NIR {P}, né le {B}",
    "La clé d'API de la préprod est {K}, à ne pas diffuser.",
    "jeton d'accès = {K}",
    "Tél. domicile : {T} – Tél. bureau : {T}",
    "Le code wifi (mot de passe) est {W}",
    "Date et lieu de naissance : {B} à Dole",
  ],
  es: [
    "Fecha de nacimiento: {B}\nDNI/NIF: {P}\nTeléfono de contacto: {T}",
    "D. Andrés, con DNI n.º {P}, nacido el {B}, declara:",
    "Me pueden llamar al {T} por la tarde.",
    "Domiciliación bancaria (IBAN): {I}",
    "Ingresar en la cuenta {I}",
    "N.º de tarjeta: {C}  Caducidad: 11/27",
    "He pagado con la Visa {C}",
    "La contraseña del correo es {W}",
    "usuario: mlopez\ncontraseña: {W}",
    "nif;fecha_nacimiento;movil\n{P};{B};{T}",
    "Clave de acceso provisional: {W}",
    "Token de la API: {K}",
    "Móvil: {T} / Fijo: {T}",
    "El titular (NIF {P}) autoriza el cargo en {I}.",
    "clave_api = '{K}'",
    "F. nacimiento {B}",
  ],
  pt: [
    "Data de nascimento: {B}\nNIF: {P}\nTelemóvel: {T}",
    "Contribuinte n.º {P}, nascido a {B}",
    "Liguem-me para o {T}, por favor.",
    "N.º de contribuinte (NIF) {P}",
    "Transferência para o IBAN {I}",
    "Número do cartão de crédito: {C}, validade 02/28",
    "Paguei com o cartão {C}.",
    "A senha do portal é {W}",
    "utilizador: rsilva / palavra-passe: {W}",
    "nif,data_nascimento,telefone\n{P},{B},{T}",
    "Palavra-passe temporária: {W}",
    "Chave da API: {K}",
    "Contacto telefónico: {T}",
    "Conta bancária (IBAN): {I}",
    "token={K}",
    "Nasceu em {B}, em Braga.",
  ],
  it: [
    "Data di nascita: {B}\nCodice fiscale: {P}\nCellulare: {T}",
    "Il/La sottoscritto/a nato/a il {B}, C.F. {P}, dichiara",
    "Potete chiamarmi al numero {T}.",
    "Bonifico sul conto IBAN {I}",
    "Coordinate bancarie: {I}",
    "Numero carta di credito {C} scadenza 07/27",
    "Ho pagato con la carta {C}.",
    "La password del wifi è {W}",
    "utente: grossi\npassword: {W}",
    "cf;data_nascita;telefono\n{P};{B};{T}",
    "Password provvisoria: {W}",
    "La chiave API di collaudo è {K}",
    "Recapito telefonico: {T}",
    "nata il {B} a Pesaro, CF: {P}",
    "TOKEN: {K}",
  ],
  nl: [
    "Geboortedatum: {B}\nBSN: {P}\nTelefoonnummer: {T}",
    "Burgerservicenummer (BSN) {P}",
    "U kunt mij bereiken op {T}.",
    "Machtiging voor rekening {I}",
    "IBAN-rekeningnummer: {I}",
    "Creditcardnummer {C}, geldig tot 05/27",
    "Betaald met kaart {C}",
    "Het wachtwoord van de wifi is {W}",
    "gebruiker: jvisser / ww: {W}",
    "geboortedatum;bsn;telefoon\n{B};{P};{T}",
    "Tijdelijk wachtwoord: {W}",
    "De API-sleutel is {K}",
    "geboren op {B} te Assen, BSN {P}",
    "api_key: {K}",
    "geb.datum {B}",
  ],
  pl: [
    "Data urodzenia: {B}\nPESEL: {P}\nTelefon kontaktowy: {T}",
    "Nr PESEL {P}, ur. {B}",
    "Proszę dzwonić pod numer {T}.",
    "Numer rachunku (IBAN): {I}",
    "Przelew na konto {I}",
    "Numer karty kredytowej: {C}, ważna do 08/27",
    "Zapłaciłem kartą {C}.",
    "Hasło do wifi to {W}",
    "użytkownik: knowak\nhasło: {W}",
    "pesel;data_urodzenia;telefon\n{P};{B};{T}",
    "Hasło tymczasowe: {W}",
    "Klucz API: {K}",
    "Tel. kom. {T}",
    "urodzona {B} w Lublinie, nr ewid. PESEL {P}",
    "token: {K}",
    "Urodzony dnia {B}",
  ],
  tr: [
    "Doğum Tarihi: {B}\nT.C. Kimlik No: {P}\nCep Telefonu: {T}",
    "TCKN {P}",
    "Bana {T} numarasından ulaşabilirsiniz.",
    "IBAN: {I}",
    "Hesap numaram {I}",
    "Kredi kartı numarası: {C}, son kullanma 06/27",
    "{C} numaralı kartla ödedim.",
    "Wifi şifresi {W}",
    "kullanıcı: ayilmaz\nşifre: {W}",
    "tckn;dogum_tarihi;telefon\n{P};{B};{T}",
    "Geçici şifreniz: {W}",
    "API anahtarı: {K}",
    "GSM: {T}",
    "T.C. kimlik numarası {P}, doğum tarihi {B}",
    "erişim anahtarı = {K}",
    "Tel (ev): {T}",
  ],
  ru: [
    "Дата рождения: {B}\nИНН: {P}\nКонтактный телефон: {T}",
    "ИНН физического лица {P}",
    "Звоните по номеру {T}.",
    "Счёт IBAN {I}",
    "Перевод на счет {I}",
    "Номер карты: {C}, срок 12/27",
    "Оплатил картой {C}.",
    "Пароль от вайфая {W}",
    "логин: petrova\nпароль: {W}",
    "ИНН;Дата рождения;Телефон\n{P};{B};{T}",
    "Временный пароль: {W}",
    "Ключ API: {K}",
    "Моб. тел.: {T}",
    "Гр. Петрова, {B} г.р., ИНН {P}",
    "токен доступа: {K}",
    "Родился {B}",
  ],
  zh: [
    "出生日期:{B}\n身份证号码:{P}\n联系电话:{T}",
    "公民身份号码 {P}",
    "请拨打{T}联系我。",
    "汇款账户 IBAN {I}",
    "收款账号:{I}",
    "信用卡号:{C},有效期 10/27",
    "我用卡号{C}付的款。",
    "无线密码是{W}",
    "用户名:zhang\n密码:{W}",
    "身份证号,出生日期,手机号\n{P},{B},{T}",
    "临时密码:{W}",
    "API密钥:{K}",
    "手机:{T}",
    "身份证:{P},生于{B}",
    "访问令牌:{K}",
    "登录密码为 {W}",
  ],
  ja: [
    "生年月日:{B}\n電話番号(携帯):{T}",
    "ご連絡先は{T}です。",
    "お振込先 IBAN {I}",
    "口座番号(IBAN):{I}",
    "クレジットカード番号:{C} 有効期限 01/28",
    "カード番号は{C}です。",
    "Wi-Fiのパスワードは{W}です。",
    "ユーザー名:sato\nパスワード:{W}",
    "生年月日,電話番号\n{B},{T}",
    "仮パスワード:{W}",
    "APIキー:{K}",
    "携帯番号 {T}",
    "{B}生まれ",
    "アクセストークン:{K}",
    "暗証番号・パスワード {W}",
    "日中のご連絡先(電話) {T}",
  ],
  ko: [
    "생년월일: {B}\n주민등록번호: {P}\n휴대전화: {T}",
    "주민번호 {P}",
    "{T}로 연락 주세요.",
    "계좌(IBAN) {I}",
    "입금 계좌: {I}",
    "신용카드 번호: {C}, 유효기간 04/28",
    "카드 {C}로 결제했습니다.",
    "와이파이 비밀번호는 {W}입니다.",
    "아이디: kim\n비밀번호: {W}",
    "주민등록번호,생년월일,전화번호\n{P},{B},{T}",
    "임시 비밀번호: {W}",
    "API 키: {K}",
    "연락처: {T}",
    "{B}생, 주민등록번호 {P}",
    "액세스 토큰: {K}",
    "비번: {W}",
  ],
};

const MARKS: Readonly<Record<string, What>> = {
  C: "card",
  I: "iban",
  P: "person",
  T: "phone",
  B: "born",
  W: "password",
  K: "key",
};

/** Telephones as they are written within each country; `#` a digit from 2 on, `0` any. */
const PHONES: Readonly<Record<string, readonly string[]>> = {
  en: ["(212) #00-0000", "415-#00-0000", "+44 7700 900 000", "020 7946 0000"],
  de: ["0170 0000000", "0341/#00000", "+49 (0)89 #000000", "030-#000000"],
  fr: ["06 00 00 00 00", "01.00.00.00.00", "+33 6 00 00 00 00", "0700000000"],
  es: ["600 00 00 00", "910000000", "+34 600 000 000", "600-000-000"],
  pt: ["910 000 000", "+351 960 000 000", "21 000 00 00"],
  it: ["333 0000000", "347 000 0000", "+39 06 0000 0000", "02/00000000"],
  nl: ["06-00000000", "020-0000000", "+31 6 30000000"],
  pl: ["600 000 000", "+48 500 000 000", "500-000-000", "22 000 00 00"],
  tr: ["0532 #00 00 00", "+90 533 #00 00 00", "0 (542) #00 00 00"],
  ru: ["8 (916) 000-00-00", "+7 903 000-00-00", "8-926-000-00-00"],
  zh: ["13800000000", "139 0000 0000", "010-60000000", "+86 137 0000 0000"],
  ja: ["090-#000-0000", "03-#000-0000", "080#0000000"],
  ko: ["010-#000-0000", "02-#00-0000", "010 #000 0000"],
};
/** What in these stands for itself. */
const FIXED = /^(?:\+\d+ (?:\(0\))?\d*|\(\d+\)|0 \(\d+\)|8 \(\d+\)|8-\d+|0\d+|\d\d)/;

const MONTHS: Readonly<Record<string, string>> = {
  en: "January February March April May June July August September October November December",
  de: "Januar Februar März April Mai Juni Juli August September Oktober November Dezember",
  fr: "janvier février mars avril mai juin juillet août septembre octobre novembre décembre",
  es: "enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre",
  pt: "janeiro fevereiro março abril maio junho julho agosto setembro outubro novembro dezembro",
  it: "gennaio febbraio marzo aprile maggio giugno luglio agosto settembre ottobre novembre dicembre",
  nl: "januari februari maart april mei juni juli augustus september oktober november december",
  pl: "stycznia lutego marca kwietnia maja czerwca lipca sierpnia września października listopada grudnia",
  tr: "Ocak Şubat Mart Nisan Mayıs Haziran Temmuz Ağustos Eylül Ekim Kasım Aralık",
  ru: "января февраля марта апреля мая июня июля августа сентября октября ноября декабря",
};
const LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";

const pick = <T>(draw: Draw, all: readonly T[]): T => all[draw(all.length)];
const digits = (draw: Draw, n: number) => Array.from({ length: n }, () => draw(10)).join("");
const letters = (draw: Draw, n: number) =>
  Array.from({ length: n }, () => LETTERS[draw(LETTERS.length)]).join("");
const two = (n: number) => String(n).padStart(2, "0");

function card(draw: Draw): string {
  const body = pick(draw, ["4111", "5105", "2301", "6011"]).slice(0, 4) + digits(draw, 11);
  const number = luhn(body);
  return pick(draw, [number, number.replace(/(.{4})(?=.)/g, "$1 "), number.replace(/(.{4})(?=.)/g, "$1-")]);
}

function phone(draw: Draw, language: string): string {
  const form = pick(draw, PHONES[language]);
  const fixed = FIXED.exec(form)?.[0] ?? "";
  return fixed + form.slice(fixed.length).replace(/[0#]/g, (c) => String(c === "#" ? 2 + draw(8) : draw(10)));
}

function born(draw: Draw, language: string): string {
  const [day, month, year] = [1 + draw(28), 1 + draw(12), 1945 + draw(60)];
  const iso = `${year}-${two(month)}-${two(day)}`;
  if (language === "zh" || language === "ja") {
    return pick(draw, [`${year}年${month}月${day}日`, `${year}/${two(month)}/${two(day)}`, iso]);
  }
  if (language === "ko") {
    return pick(draw, [`${year}년 ${month}월 ${day}일`, `${year}.${two(month)}.${two(day)}`, iso]);
  }
  const name = MONTHS[language].split(" ")[month - 1];
  const joint = language === "nl" ? "-" : /^(?:de|pl|tr|ru)$/.test(language) ? "." : "/";
  const written: Record<string, string> = {
    en: pick(draw, [`${name} ${day}, ${year}`, `${day} ${name} ${year}`]),
    de: `${day}. ${name} ${year}`,
    es: `${day} de ${name} de ${year}`,
    pt: `${day} de ${name} de ${year}`,
  };
  return pick(draw, [
    written[language] ?? `${day} ${name} ${year}`,
    [two(day), two(month), year].join(joint),
    iso,
  ]);
}

function password(draw: Draw): string {
  return pick(draw, [
    () =>
      `${pick(draw, ["sunny", "Bergweg", "Casa", "kotek"])}${digits(draw, 3)}${
        pick(draw, ["!", "$", "#"])
      }Xa`,
    () =>
      `${pick(draw, ["Gw", "tR", "xK"])}${digits(draw, 2)}-${pick(draw, ["pLmv", "Qrtz"])}${digits(draw, 2)}`,
    () => `${pick(draw, ["correct", "blauer"])}.${pick(draw, ["Horse", "Chat"])}.${digits(draw, 2)}`,
    () => `P@${pick(draw, ["rko", "lma"])}${digits(draw, 4)}`,
  ])();
}

function key(draw: Draw): string {
  return pick(draw, [
    () => `ghp_${letters(draw, 36)}`,
    () => `xoxb-${digits(draw, 12)}-${digits(draw, 12)}-${letters(draw, 24)}`,
    () => `AIza${letters(draw, 35)}`,
    () => `SG.${letters(draw, 22)}.${letters(draw, 43)}`,
    () => `npm_${letters(draw, 36)}`,
    () => letters(draw, 40),
  ])();
}

export interface FormSample {
  language: string;
  what: What;
  text: string;
  start: number;
  end: number;
}

/** Every form so many times, with new values each. */
export function* formSamples(seed: number, times: number): Generator<FormSample> {
  const draw = drawing(seed);
  const value = (what: What, language: string): string => {
    switch (what) {
      case "card":
        return card(draw);
      case "iban":
        return iban(draw, LANGUAGES[language].account[0], LANGUAGES[language].account[1](draw));
      case "person":
        return PERSONS[language]?.(draw) ?? `${100 + draw(500)}-${two(1 + draw(98))}-${1000 + draw(9000)}`;
      case "phone":
        return phone(draw, language);
      case "born":
        return born(draw, language);
      case "password":
        return password(draw);
      case "key":
        return key(draw);
    }
  };
  for (let time = 0; time < times; time++) {
    for (const [language, forms] of Object.entries(FORMS)) {
      for (const form of forms) {
        const found: Omit<FormSample, "text">[] = [];
        let text = "";
        for (const piece of form.split(/(\{[A-Z]\})/)) {
          const what = MARKS[piece[1]];
          if (piece[0] !== "{" || what === undefined || piece.length !== 3) {
            text += piece;
            continue;
          }
          const said = value(what, language);
          found.push({ language, what, start: text.length, end: text.length + said.length });
          text += said;
        }
        for (const one of found) yield { ...one, text };
      }
    }
  }
}
