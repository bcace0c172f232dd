/** Elements without HTML in strings: text is only ever text. */
import { asset } from '../asset.js';
import { t } from '../words.js';

const SVG = `${'http'}://www.w3.org/2000/svg`;
const PROPERTIES = new Set(['value', 'checked', 'disabled', 'hidden', 'open', 'readOnly', 'selected', 'indeterminate']);

const listeners = new WeakMap(); // of elements, by their events

function heard(event) { listeners.get(event.currentTarget)[event.type](event); }

/** Puts listeners in the place of an element's earlier ones. */
function listen(element, made) {
  for (const event of Object.keys({ ...listeners.get(element), ...made })) element.removeEventListener(event, heard);
  listeners.set(element, made);
  for (const event of Object.keys(made)) element.addEventListener(event, heard);
}

function fill(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes ?? {})) {
    if (name === 'on') listen(element, value);
    else if (PROPERTIES.has(name)) element[name] = value;
    else if (value === true) element.setAttribute(name, '');
    else if (value !== false && value !== null && value !== undefined) element.setAttribute(name, String(value));
  }
  element.append(...nodes(children));
  return element;
}

function nodes(children) {
  return children.flat(Infinity).filter(child => child !== null && child !== undefined && child !== false)
    .map(child => child instanceof Node ? child : document.createTextNode(String(child)));
}

/** An element; attributes may be left out. `on` has listeners by their events. */
export function h(name, attributes, ...children) {
  const isChild = attributes instanceof Node || typeof attributes !== 'object' || Array.isArray(attributes);
  return fill(document.createElement(name), isChild ? {} : attributes, isChild ? [attributes, ...children] : children);
}

/** An element of a drawing. */
export function svg(name, attributes, ...children) { return fill(document.createElementNS(SVG, name), attributes, children); }

const ICONS = asset('icons.svg');

/** A drawing of icons.svg, by its name; words beside it say the same. */
export function icon(name, kind = 'i') { return svg('svg', { class: kind, 'aria-hidden': 'true' }, svg('use', { href: `${ICONS}#${name}` })); }

/** The first line of a page: what it shows, in words or nodes, and at the end what can be done. */
export function head(title, ...actions) {
  const [shown, ...pills] = Array.isArray(title) ? title : [title];
  return h('div', { class: 'head' }, h('h1', { tabindex: '-1' }, shown), pills, actions.length > 0 && h('div', { class: 'end row' }, actions));
}

/** The letter of a leaf; those of the first four have colors of their own. */
export function letter(name) { return h('span', { class: /^[A-D]$/.test(name) ? `l l${name.toLowerCase()}` : 'l' }, name); }

/** A card with a title, and nodes beside it, and a body. */
export function card(title, body, ...beside) {
  return h('section', { class: 'card' }, h('header', {}, h('h2', {}, title), beside.length > 0 && h('span', { class: 'end row' }, beside)), h('div', { class: 'body' }, body));
}

/** Puts children in the place of those that are there. */
export function replace(parent, ...children) { parent.replaceChildren(...nodes(children)); }

/**
 * Makes the children of an element like others, and keeps those that are alike, with the focus, a selection of text and open
 * details in them. Rows with a `data-key` are alike if they have the same one.
 */
export function patch(parent, ...children) { become(parent, nodes(children)); }

const keyOf = node => node?.dataset?.key;
const isAlike = (one, other) => one?.nodeName === other.nodeName && keyOf(one) === keyOf(other);

function become(parent, wanted) {
  const keys = new Set(wanted.map(keyOf));
  let at = parent.firstChild;
  for (const next of wanted) {
    while (at && keyOf(at) !== undefined && !keys.has(keyOf(at))) at = takeOut(at);
    const found = isAlike(at, next) ? at : keyOf(next) === undefined ? null : [...parent.children].find(child => isAlike(child, next));
    if (found && found === at) at = at.nextSibling; else parent.insertBefore(found ?? next, at);
    if (found && found !== next) turnInto(found, next);
  }
  while (at) at = takeOut(at);
}

function turnInto(element, next) {
  if (!element.attributes) {
    if (element.nodeValue !== next.nodeValue) element.nodeValue = next.nodeValue;
    return;
  }
  for (const { name, value } of next.attributes) if (element.getAttribute(name) !== value) element.setAttribute(name, value);
  for (const { name } of [...element.attributes]) if (name !== 'open' && !next.hasAttribute(name)) element.removeAttribute(name);
  listen(element, listeners.get(next) ?? {});
  become(element, [...next.childNodes]);
}

/** Removes a node, and returns the next one. A focus in it goes to the row beside it. */
function takeOut(node) {
  const { nextSibling: next, previousSibling: previous } = node;
  const isFocused = node.contains(document.activeElement);
  node.remove();
  if (isFocused) ((next ?? previous)?.querySelector?.('a[href],button') ?? document.getElementById('main')).focus({ preventScroll: true });
  return next;
}

/** The head of a table; a column without a name is that of buttons. */
export function tableHead(names, isNumber = () => false) {
  return h('thead', {}, h('tr', {}, names.map((name, index) => h('th', { scope: 'col', class: isNumber(index) ? 'num' : null }, name || h('span', { class: 'sr' }, t.dom.actions)))));
}

/** A button. */
export function button(label, run, attributes = {}) {
  return h('button', { type: 'button', class: 'button', on: { click: run }, ...attributes }, label);
}

const CALM = 200; // milliseconds without a key

/** A field to search in, with its glass. */
export function searchBox(input) { return h('span', { class: 'search' }, icon('search'), input); }

/** An input for the beginning of names, or a part of them; it is heard when nobody has typed for a moment. */
export function prefixInput(label, prefix, onInput, placeholder = t.dom.prefix) {
  let timer = 0;
  const hear = () => { if (input.isConnected) onInput(input.value); };
  const input = h('input', {
    type: 'search', value: prefix, placeholder, 'aria-label': label,
    on: { input: () => { clearTimeout(timer); timer = setTimeout(hear, CALM); } },
  });
  return input;
}

/** A labelled field: a label with its control inside. */
export function field(label, control, hint) {
  return h('label', { class: 'field' }, h('span', {}, label), control, hint && h('small', { class: 'muted' }, hint));
}

const UNSEEN = /[\u0000-\u001f\u007f-\u009f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]/g;

/** Characters that change the direction of text or can't be seen, as signs. */
export function visible(text) {
  return String(text).replace(UNSEEN, sign => `⟨U+${sign.codePointAt(0).toString(16).toUpperCase().padStart(4, '0')}⟩`);
}

/** Whether a text has such characters. */
export function hasUnseen(text) { return text.search(UNSEEN) >= 0; }

/** A text in lines that scrolls, and can be read by keyboard; only its line breaks are no signs. */
export function pre(text, label) {
  return h('pre', { class: 'scroll', tabindex: '0', role: 'region', 'aria-label': label }, h('bdi', {}, text.split('\n').map(visible).join('\n')));
}

/** An id or a value, kept apart from the direction of the text around it. */
export function bdi(text, attributes = {}) { return h('bdi', attributes, visible(text)); }
