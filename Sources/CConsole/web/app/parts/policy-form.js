/** A form for a policy and its merge rules, from the server's own list of them. */
import { ask } from '../api.js';
import { h, bdi, button, icon, patch, replace } from './dom.js';
import { t } from '../words.js';

let known = null;
/** The server's policies and rules, which are read once. */
export async function readPolicies() {
  known ??= ask('_policies').then(answer => answer.json);
  try { return await known; } catch (error) { known = null; throw error; }
}

/** The names of the policies that settle something. */
export function settling({ policies }) { return policies.filter(policy => policy.decides.length > 0).map(policy => policy.name); }

/** A policy's name in words: blanks before its capitals, and a capital at its start. */
const inWords = name => name.replace(/^[a-z]/, first => first.toUpperCase()).replace(/\B[A-Z]/g, first => ` ${first.toLowerCase()}`);

/** The form: a card for each policy, and rules; `value()` is what the server takes as `policy`, with a `Map` for objects. */
export function policyForm(list, onChange) {
  const rules = new Map();
  const options = list.rules.filter(rule => !rule.name.includes(':'));
  const choices = () => options.map(({ name, summary }) => h('option', { value: name, title: summary }, name));
  const known = settling(list).sort((one, other) => Number(other === list.default) - Number(one === list.default));
  let chosenName = list.default;
  const ways = h('div', { class: 'ways', tabindex: '-1' });
  const summary = h('p', { class: 'muted' });
  const clash = h('select', { on: { change: onChange } }, choices());
  const place = h('input', { placeholder: '/count', 'aria-label': t.policyForm.memberOfARule });
  const rule = h('select', { 'aria-label': t.common.ruleColumn }, choices());
  const chips = h('span', { class: 'row' });
  const forClashes = h('label', { class: 'row' }, h('span', { class: 'small muted' }, t.policyForm.otherClashes), clash);
  const forRules = h('span', { class: 'toolbar' }, chips,
    h('form', { class: 'toolbar', on: { submit: add } }, place, rule, h('button', { class: 'button small' }, icon('plus'), t.common.ruleColumn)));
  const rest = h('div', { class: 'toolbar' }, forRules, forClashes);
  const told = h('details', { class: 'small muted', hidden: true });

  /** Draws the cards; `outcomes` has words of what a policy does with a conflict, `reasons` why one does nothing. */
  function cards(outcomes = new Map(), reasons = new Map()) {
    patch(ways, known.filter(name => !reasons.has(name)).map(name => h('label', { 'data-key': name, 'data-policy': name, title: list.policies.find(policy => policy.name === name).summary },
      h('input', { type: 'radio', name: 'policy', value: name, checked: name === chosenName, on: { change: () => choose(name) } }),
      h('strong', {}, inWords(name)), outcomes.get(name) && h('span', {}, outcomes.get(name)))));
    for (const input of ways.querySelectorAll('input')) input.checked = input.value === chosenName;
    const left = known.filter(name => reasons.has(name));
    told.hidden = left.length === 0;
    replace(told, h('summary', {}, t.policyForm.doNotApply(left.length)), h('ul', { class: 'list' }, left.map(name => h('li', { 'data-policy': name }, h('strong', {}, inWords(name)), ' ', bdi(reasons.get(name))))));
  }

  function choose(name) {
    chosenName = name;
    rest.hidden = summary.hidden = false;
    for (const input of ways.querySelectorAll('input')) input.checked = input.value === name;
    changed();
  }

  function add(event) {
    event.preventDefault();
    if (!place.value) return;
    rules.set(place.value.startsWith('/') ? place.value : `/${place.value}`, rule.value);
    place.value = '';
    changed();
  }

  function chosen() { return list.policies.find(policy => policy.name === chosenName); }

  function draw() {
    summary.textContent = chosen().summary;
    forClashes.hidden = !chosen().options.includes('on_clash');
    forRules.hidden = !chosen().options.includes('rules');
    replace(chips, [...rules].map(([path, name]) => button([h('b', { class: 'mono' }, path), ` ${name}`, icon('close')], () => { rules.delete(path); changed(); },
      { class: 'button small', 'aria-label': t.policyForm.removeTheRule(path, name) })));
  }

  function changed() {
    draw();
    onChange();
  }

  cards();
  draw();
  return {
    element: h('fieldset', { class: 'stack' }, h('legend', { class: 'sr' }, t.policyForm.policy), ways, summary, rest, told),
    choose,
    /** Offers the policies that settle a conflict; the others have their reasons. Says whether the chosen one is among them. */
    offer(outcomes, reasons) {
      cards(outcomes, reasons);
      rest.hidden = summary.hidden = reasons.has(chosenName);
      return !reasons.has(chosenName);
    },
    get name() { return chosenName; },
    value() {
      const { name, options: taken } = chosen();
      if (taken.length === 0) return name;
      const value = new Map([['name', name]]);
      if (taken.includes('rules')) value.set('rules', rules);
      return value.set('on_clash', clash.value);
    },
  };
}
