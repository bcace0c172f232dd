/**
 * The texts of the console, in the language that the browser prefers among those there are, and numbers, sizes and moments as
 * people of that language read them. A language is a file of `texts` with the members of `en.js`, and a line here.
 */

const LANGUAGES = {
  en: () => import('./texts/en.js'),
  de: () => import('./texts/de.js'),
};

const language = navigator.languages.map(tag => tag.split('-')[0].toLowerCase()).find(name => Object.hasOwn(LANGUAGES, name)) ?? 'en';
document.documentElement.lang = language;

/** A catalogue with the English texts in the place of those that it lacks. */
function whole(texts, english) {
  return Object.fromEntries(Object.entries(english).map(([module, names]) => [module, { ...names, ...texts[module] }]));
}

// What the server delivers says of a catalogue that it lacks nothing, so the English one need not be loaded.
const { default: chosen, isWhole } = await LANGUAGES[language]();

/** The texts: `t.{module}.{name}`, and `t.common.{name}` for those of several modules. */
export const t = isWhole ? chosen : whole(chosen, (await LANGUAGES.en()).default);

const numbers = new Intl.NumberFormat(t.formats.numbers);
const fractions = new Intl.NumberFormat(t.formats.numbers, { minimumFractionDigits: 1, maximumFractionDigits: 1 });
const SHORT = { month: 'short', day: 'numeric', hour: '2-digit', minute: '2-digit', hourCycle: 'h23' };
const [moments, olderMoments] = [SHORT, { ...SHORT, year: 'numeric' }].map(form => new Intl.DateTimeFormat(t.formats.moments, form));

export const number = value => numbers.format(value);
/** A number with one digit after its point. */
export const tenths = value => fractions.format(value);

/** A moment, with its year if that is another one. */
export function moment(milliseconds) {
  const date = new Date(milliseconds);
  return (date.getFullYear() === new Date().getFullYear() ? moments : olderMoments).format(date);
}

export function bytes(value) {
  const units = t.formats.sizes;
  let unit = 0;
  for (; value >= 1000 && unit < units.length - 1; unit += 1) value /= 1000;
  return `${unit && value < 10 ? tenths(value) : Math.round(value)} ${units[unit]}`;
}

/** A revision for people: its generation and first digits. */
export function short(revision) {
  const [generation, digits = ''] = String(revision).split('-');
  return digits.length > 10 ? `${generation}-${digits.slice(0, 8)}…` : String(revision);
}
