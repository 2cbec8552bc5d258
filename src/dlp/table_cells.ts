/**
 * Tables with named columns: the view shows each cell of such a column after the column's name, as in a form.
 * For texts separated by commas, semicolons, tabs or vertical bars, and for columns that are aligned with spaces.
 */

import { cellsBelow, columnsAligned } from "./aligned_columns.ts";
import { columnsOf, COPY } from "./sql_rows.ts";
import { type Span, type View, ViewWriter } from "./view.ts";

/** Column names that identify a value. */
const NAMES_A_VALUE = new RegExp(
  `(?<![a-z])(?:${
    [
      "d\\.?o\\.?b|birth|born|geb|nais|n[ée]\\(?e?\\)? le|nac(?:im|(?:[ií]|id[oa]) el)|nat[oa] il|n[ée]e? le|nasc|urod|ur\\.$|do[gğ]um|f[öø]dels|f[øo]dsel|født|syntym|narozen|na[sșş]ter|szület|ngày sinh",
      "social|ssn$|sin$|tax|tin$|tfn$|steuer|idnr|(?:^| )f?ein(?![a-z])|employer id|vat|ust-?(?:id|nr)|utr|nino?$|ni (?:no|num)|n\\.?i\\.?[fe]\\.?(?![a-z])|d\\.?n\\.?i\\.?(?![a-z])|nir$|insee|s[ée]cu|fiscal|c\\.?f\\.?$|bsn|burgerserv|pesel|nip$|regon|t\\.?c\\.?k|kimlik|cpr|hetu$|henkil|rodn[ée]|r\\.?[čc]\\.?$|contribuinte|cod(?:ul)? numeric|isikukood|identity|identifi[ck]ation|national id|personal (?:id|code|no|num)|pps",
      "passp|passep|pasap|reisep|licen[sc]e|dl (?:no|num)|f[üu]hrersch|permis|carnet|cnh$|habilit|passw|pass$|pwd$|pw$|mot de passe|mdp$|senha|wachtw|kennw|parol|l[öo]senord|passord|adgangsk|salasana|heslo$|jelsz|sandi$|bindpw|secret|token|t?otp$|ntlm|(?:api )?key$|cl[ée] (?:api|secr)",
      "phone|fone$|(?:^| )ph(?: no)?$|durchwahl|r[üu]ckruf|recapito|contact (?:no|num)|t[ée]l(?:[.:ée]|$)|portable|rufnummer|komórk|tfno|tlf|tlm|mobi(?:l|el)|caller|callee|msisdn|m[óo]vil|cell(?:$| |p|ul)|celul|handy|fax$|gsm$|fixe$|fisso$|fijo$|whatsapp|card|kart[ea]?(?:n|$| )|carte|tarjeta|cart[aã]o|carta$|pan$|cv[vc]|security code|s[ée]curit[ée]|cryptogr|sicherheitscode|pr[üu]fn|c[óo]digo de segur|codice di sicur|g[üu]venlik kod|beveiligingsc|s[äa]kerhetskod|sikkerhe[dt]skod|turvakood|keamanan|mã bảo",
      "iban|account|acct|konto|compte|cuenta|conta$|rekening|rachun|hesap|routing|aba$|sort code|bsb$|blz$|bankleit|swift|bic$|wallet|npi$|dea$|mbi$|nhs|mrn$|patient|medic|insur|versich|kvnr$|rvnr$|svnr$|sv-?nr|rv-?nr",
      "aadhaa?r|voter|gstin|cpf(?![a-z])|cnpj(?![a-z])|rut$|cuit$|curp$|rfc$|cnp$|inn$|snils$|egn$|oib$|abn$|acn$|nric|hkid|uen$|personn|vin$|imei|iccid|zip|postal|plz$",
    ].join("|")
  })|رقم|هاتف|جوال|موبا?[يی]ل|تلف[وا]?ن|तिथि|मोबाइल|फ़ोन|फोन|ميلاد|تولد|לידה|народжен|วันเกิด|lahir|rođen|рожд|出生|生年|生日|생년|γέννησ|инн|снилс|身份|身分|주민|тел|моб|τηλ|κινητ|טלפון|נייד|โทร|มือถือ|điện thoại|sđt|puh|연락처|zabezpiecz|[a-z]passw(?:or[dt]|d)?$|contrase|has[lł]o|[sş]ifre|парол|密[码碼]|口令|パスワ|暗証|비밀번호|암호|κωδικ|סיסמ|كلمة|mật khẩu|รหัสผ่าน|पासवर्ड|安全[码碼]|セキュリティ|보안|безопасн|手机|手機|电话|電話|携帯|連絡先|전화|휴대|карт|卡|カード|카드|сч[её]т`,
  "i",
);
/** Number of lines of a block that may be a header. */
const HEADER_WITHIN = 3;
/** Lines without names that are not counted: the mark of a block of code, the border of a table. */
const BORDER = /(?:```|[+┌╔|][-+=|┬╦─═])/y;
const LONGEST_HEADER = 400;
/** The line below a header in Markdown and printed tables. */
const RULE = /[ \t]{0,8}[|+├╞╟╠]?[ \t]?:?[-─═][-:| \t+─═┼╪╫╬┤╡╢╣]{2,400}\r?\n/y;
/** Names of columns, excluding characters that do not occur in them. */
const HEADER = /^[^\d=<>{},;\t|│]{0,60}[,;\t|│][^\d=<>{}]+$/;
/** The number at the end of a name, such as the second of several addresses. */
const NUMBERED = /(?<=[A-Za-z_])\d{1,2}(?=["'\s]{0,4}(?:[,;\t|│]|$))/g;
const CELL_NAME = /^[\p{L}][^"=<>{}]{0,39}$/u;
const MOST_ROWS = 20_000;
const MOST_CELL = 120;
/** How many times as long as the text its values with their names may be: a name may be longer than its values. */
export const MOST_SAID = 3;
const DELIMITERS = ["\t", "│", ";", "|", ","];

/** A table that is divided by a segment boundary: the state for its continuation. */
export interface OpenTable {
  readonly delimiter: string;
  /** Column names; null: not the name of a value. */
  readonly names: readonly (string | null)[];
  /** Where the names stand in their line, if the columns are aligned with spaces. */
  readonly columns?: readonly Span[];
}

export interface TableCells {
  readonly view: View;
  /** The table that contains the end of the text; null: none. */
  readonly open: OpenTable | null;
}

/** @param from the table at the beginning of the text; null: none */
export function tableCells(view: View, from: OpenTable | null): TableCells | null {
  const { text } = view;
  let writer: ViewWriter | null = null;
  let budget = text.length * MOST_SAID + 1024;
  let open: OpenTable | null = null;
  const read = (table: OpenTable, start: number): number => {
    let at = start;
    open = null;
    for (let row = 0; row < MOST_ROWS && budget > 0 && at < text.length; row++) {
      const stop = text.indexOf("\n", at);
      const end = stop < 0 ? text.length : stop;
      const cells = cellsIn(text, at, end, table);
      // The first row may be the rest of one in the previous segment.
      if (!fits(cells, table)) {
        if (row > 0 || start > 0) {
          const next = nextRow(text, end + 1, table);
          if (next < 0) {
            if (text.length - at < 4 && text.slice(at).trim() === "") open = table;
            return at;
          }
          at = next;
          continue;
        }
      } else {
        cells.forEach((cell, i) => {
          const name = table.names[i] ?? null;
          if (name === null || cell.end - cell.start < 3 || cell.end - cell.start > MOST_CELL) return;
          writer ??= new ViewWriter(view);
          writer.say({ start: cell.start, end: cell.start, says: `${name}: ` });
          writer.copy(cell.start, cell.end);
          writer.part();
          budget -= name.length + cell.end - cell.start;
        });
      }
      at = end + 1;
    }
    if (at >= text.length) open = table;
    return at;
  };
  const first = from === null ? 0 : read(from, 0);
  for (const match of text.matchAll(COPY)) {
    const names = columnsOf(match[1]).map(nameOfValue);
    if (names.some((name) => name !== null)) read({ delimiter: "\t", names }, match.index + match[0].length);
  }
  const copied = open;
  for (let at = first; at >= 0 && at < text.length && budget > 0;) {
    // A header is the first line of a block, or follows a title or code marker.
    let line = at;
    let borders = 0;
    for (let n = 0; n < HEADER_WITHIN && line < text.length; n++) {
      const end = text.indexOf("\n", line);
      if (end < 0) break;
      BORDER.lastIndex = line;
      if (n > 0 && n < HEADER_WITHIN && borders < 2 && BORDER.test(text)) {
        n--;
        borders++;
      }
      const table = end - line <= LONGEST_HEADER ? headerAt(text, line, end) : null;
      line = table === null ? end + 1 : Math.max(end + 1, read(table, table.rows));
      if (text.charCodeAt(line) <= 13) break;
    }
    at = blockAfter(text, line - 1);
  }
  open ??= copied;
  const made = writer as ViewWriter | null;
  return made === null && open === null ? null : { view: made?.view() ?? { text: "" }, open };
}

/** The cells of a line of a table, one for each of its columns if these are aligned. */
function cellsIn(text: string, start: number, end: number, { delimiter, columns }: OpenTable): Span[] {
  return columns ? cellsBelow(text, start, end, columns) : cellsOf(text, start, end, delimiter);
}

/** Whether a row has the cells of its table. Rows with tabs may lack the last ones, or have empty ones behind them. */
function fits(cells: readonly Span[], { names, delimiter, columns }: OpenTable): boolean {
  if (columns) return cells.some(({ start, end }, i) => names[i] !== null && start < end);
  if (cells.length === names.length) return true;
  if (delimiter !== "\t") return false;
  return cells.length < names.length
    ? cells.length > 1
    : cells.slice(names.length).every(({ start, end }) => start === end);
}

/** Number of lines between two rows, such as comments, that do not end a table. */
const MOST_BETWEEN = 3;

/** Where the next row of a table begins behind a line that is none; negative: the table has ended. */
function nextRow(text: string, from: number, table: OpenTable): number {
  for (let line = from, n = 0; n < MOST_BETWEEN && line < text.length; n++) {
    const stop = text.indexOf("\n", line);
    const end = stop < 0 ? text.length : stop;
    if (end - line > LONGEST_HEADER * 4) return -1;
    // The header of another table.
    const said = text.slice(line, end);
    if (table.columns) {
      if (said.trim() === "" || columnsAligned(said) !== null) return -1;
    } else if (said.includes(table.delimiter) && HEADER.test(said.replace(NUMBERED, ""))) return -1;
    if (/\d/.test(said) && fits(cellsIn(text, line, end, table), { ...table, delimiter: "" })) return line;
    line = end + 1;
  }
  return -1;
}

const EMPTY_LINE = /\n\r?\n/g;

/** Start of the block after an empty line; negative: none. */
function blockAfter(text: string, from: number): number {
  const line = text.indexOf("\n", from);
  if (line < 0) return -1;
  EMPTY_LINE.lastIndex = line;
  return EMPTY_LINE.test(text) ? EMPTY_LINE.lastIndex : -1;
}

/** The header in a line, and the start of its rows; null: not a header. */
function headerAt(text: string, start: number, end: number): OpenTable & { rows: number } | null {
  let line = text.slice(start, end);
  // The table may start within a JSON string.
  const quote = line.lastIndexOf('"');
  if (quote > 0 && /[[{:,]\s{0,3}$/.test(line.slice(Math.max(0, quote - 4), quote))) {
    line = line.slice(quote + 1);
  }
  if (!HEADER.test(line.replace(NUMBERED, ""))) return alignedAt(text, line, end);
  const delimiter = DELIMITERS.find((one) => line.includes(one))!;
  RULE.lastIndex = end + 1;
  const rows = RULE.test(text) ? RULE.lastIndex : end + 1;
  const stop = text.indexOf("\n", rows);
  const row = text.slice(rows, Math.min(stop < 0 ? text.length : stop, rows + LONGEST_HEADER));
  // A row has as many delimiters, unless some are quoted, or its last cells empty, and a digit.
  const least = delimiter === "\t" ? 2 : line.split(delimiter).length;
  if (!/\d/.test(row) || row.split(delimiter).length < least) return null;
  // A tab at the end is an empty cell.
  const table = namesOf(delimiter === "\t" ? line.replace(/\r$/, "") : line.trim(), delimiter);
  return table && { ...table, rows };
}

/** A header whose columns are aligned with spaces, up to `end`: a cell with a digit must stand below a name. */
function alignedAt(text: string, line: string, end: number): OpenTable & { rows: number } | null {
  const columns = columnsAligned(line);
  if (columns === null) return null;
  const names = columns.map((column) => nameOfValue(line.slice(column.start, column.end)));
  if (names.every((name) => name === null)) return null;
  RULE.lastIndex = end + 1;
  const rows = RULE.test(text) ? RULE.lastIndex : end + 1;
  const stop = text.indexOf("\n", rows);
  const table = { delimiter: "", names, columns, rows };
  const cells = cellsIn(text, rows, Math.min(stop < 0 ? text.length : stop, rows + LONGEST_HEADER), table);
  return cells.some((cell, i) => names[i] !== null && /\d/.test(text.slice(cell.start, cell.end)))
    ? table
    : null;
}

/** The columns of a header; null: not a header, or no column names a value. */
function namesOf(line: string, delimiter: string): OpenTable | null {
  const names = cellsOf(line, 0, line.length, delimiter).map(({ start, end }) => line.slice(start, end));
  if (names.length < 2) return null;
  if (!names.every((name, i) => name === "" ? i === 0 || i === names.length - 1 : CELL_NAME.test(name))) {
    return null;
  }
  const labels = names.map(nameOfValue);
  return labels.every((label) => label === null) ? null : { delimiter, names: labels };
}

/**
 * The name of a column, member or element as a form label with words separated by spaces; null: it does not
 * name a value of interest.
 */
export function nameOfValue(name: string): string | null {
  // A name that contains a value would itself be a finding.
  if (/[@<>{}=/]|\d{3}/.test(name)) return null;
  const label = name.replace(/^["'`*\s]+|["'`*\s:：?]+$/g, "").replace(PARTING, " ").replace(
    /([a-z])(?=[A-Z])|([A-Z])(?=[A-Z][a-z]{2})/g,
    "$1$2 ",
  );
  const singular = label.replace(PLURAL, "");
  return NAMES_A_VALUE.test(singular) ? singular : NAMES_A_VALUE.test(label) ? label : null;
}

/** The tokens of a text are words. */
const PLURAL = /(?<=[A-Za-z]{2}[^\Ws])(?<!(?<!\w )tokens?)'?s$/i;

/** Separators of words in a name; not the Katakana long vowel mark, which folding turns into a hyphen. */
const PARTING = /_|(?<![\u30a0-\u30ff])-|-(?![\u30a0-\u30ff])/g;

/** Cells without surrounding quotes and white space. */
function cellsOf(text: string, start: number, end: number, delimiter: string): Span[] {
  const cells: Span[] = [];
  for (let at = start;;) {
    let stop = at;
    const quote = /^[ \t]*"/.exec(text.slice(at, Math.min(end, at + 8)));
    if (quote) {
      const close = text.indexOf('"', at + quote[0].length);
      if (close >= 0 && close < end) stop = close + 1;
    }
    while (stop < end && text[stop] !== delimiter) stop++;
    let first = at;
    let last = stop;
    while (first < last && /[\s"']/.test(text[first])) first++;
    while (last > first && /[\s"']/.test(text[last - 1])) last--;
    cells.push({ start: first, end: last });
    if (stop >= end || cells.length > 200) return cells;
    at = stop + 1;
  }
}
