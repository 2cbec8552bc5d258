/** Lists of words whose frequency in a question indicates the work asked for. */

export const CLASSES = {
  numberWord:
    "one two three four five six seven eight nine ten eleven twelve twenty thirty forty fifty hundred thousand " +
    "million dozen",
  fraction: "half third quarter fourth fifth thirds quarters halves",
  multiple: "twice thrice double doubled triple tripled times",
  rateWord: "each every per",
  condition: "if",
  than: "than",
  left: "left remain remaining remains remainder remained rest",
  total: "total altogether all combined together sum",
  time: "hour hours minute minutes day days week weeks month months year years second seconds am pm",
  distance: "mile miles km feet foot meter meters metre metres inch inches yard yards mph speed",
  money:
    "cost costs price priced prices pay pays paid spend spends spent sell sells sold buy buys bought profit earn earns " +
    "earned discount sale tax interest",
  average: "average mean rate ratio proportion",
  order: "first second third next then after before finally until",
  pronoun: "he she his her they their him them",
  negation: "not except never no least without false incorrect cannot",
  and: "and",
  or: "or",
  contrast: "but however although though while instead",
  compare: "less fewer more",
  same: "same equal equals equally both also",
  only: "only except already still",
  will: "will would should could must need needs want wants",
  age: "age aged old older younger",
  how: "how",
  many: "many much",
  long: "long far tall fast soon",
  article: "the",
  indefinite: "a an",
  law:
    "court defendant plaintiff statute contract law tort jury liable liability seller buyer tenant judgment",
  medicine: "patient patients woman man presents examination symptoms history blood diagnosis treatment",
  ought: "wrong moral morally right ethical permissible ought",
  passage: "passage excerpt following refers information above according",
  ask: "which what who why when where",
  formal: "prove proof theorem lemma derive integral",
  algebra: "function matrix polynomial group ring field equation vector set",
  task:
    "explain describe write design implement analyze analyse compare translate summarize summarise code program fix " +
    "debug refactor solve review draft plan create build",
} as const;
