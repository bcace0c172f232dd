/** A form for a policy and its merge rules, from the server's own list of them. */
import { ask } from '../api.js';
import { h, button, field, replace } from './dom.js';
import { t } from '../words.js';

let known = null;
/** The server's policies and rules, which are read once. */
export async function readPolicies() {
  known ??= ask('_policies').then(answer => answer.json);
  try { return await known; } catch (error) { known = null; throw error; }
}

/** The names of the policies that settle something. */
export function settling({ policies }) { return policies.filter(policy => policy.decides.length > 0).map(policy => policy.name); }

/** The form; `value()` is what the server takes as `policy`, with a `Map` for objects. */
export function policyForm(list, onChange) {
  const rules = new Map();
  const options = list.rules.filter(rule => !rule.name.includes(':'));
  const choices = () => options.map(({ name, summary }) => h('option', { value: name, title: summary }, name));
  const offered = new Map(settling(list).map(name => [name, h('option', { value: name, selected: name === list.default }, name)]));
  const names = h('select', { on: { change: changed } }, [...offered.values()]);
  const summary = h('span');
  const clash = h('select', { on: { change: onChange } }, choices());
  const place = h('input', { placeholder: '/count', 'aria-label': t.policyForm.memberOfARule });
  const rule = h('select', { 'aria-label': t.common.ruleColumn }, choices());
  const chips = h('span');
  const forClashes = field(t.policyForm.otherClashes, clash);
  const forRules = h('span', { class: 'toolbar' },
    h('form', { class: 'toolbar', on: { submit: add } }, place, rule, h('button', { class: 'button small' }, t.common.rule)), chips);

  function add(event) {
    event.preventDefault();
    if (!place.value) return;
    rules.set(place.value.startsWith('/') ? place.value : `/${place.value}`, rule.value);
    place.value = '';
    changed();
  }

  function chosen() { return list.policies.find(policy => policy.name === names.value); }

  function draw() {
    summary.textContent = chosen().summary;
    forClashes.hidden = !chosen().options.includes('on_clash');
    forRules.hidden = !chosen().options.includes('rules');
    replace(chips, [...rules].map(([path, name]) => button(`${path}=${name} ×`, () => { rules.delete(path); changed(); }, { class: 'button small', 'aria-label': t.policyForm.removeTheRule(path, name) })));
  }

  function changed() {
    draw();
    onChange();
  }

  draw();
  return {
    element: h('div', { class: 'toolbar' }, field(t.policyForm.policy, names, summary), forClashes, forRules),
    choose(name) { names.value = name; changed(); },
    /** Offers the policies that settle a conflict; the others have their reasons. Says whether the chosen one is among them. */
    offer(reasons) {
      for (const [name, option] of offered) {
        option.disabled = reasons.has(name);
        option.title = reasons.get(name) ?? '';
      }
      return !reasons.has(names.value);
    },
    get name() { return names.value; },
    value() {
      const { name, options } = chosen();
      if (options.length === 0) return name;
      const value = new Map([['name', name]]);
      if (options.includes('rules')) value.set('rules', rules);
      return value.set('on_clash', clash.value);
    },
  };
}
