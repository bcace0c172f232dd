/** Style sheets of parts that are loaded when they are needed. */
import { asset } from '../asset.js';
import { h } from './dom.js';

const loaded = new Map();

/** Loads a style sheet once; the promise is kept when it counts, or can't be had. */
export function sheet(name) {
  if (!loaded.has(name)) {
    loaded.set(name, new Promise(resolve => {
      document.head.append(h('link', { rel: 'stylesheet', href: asset(name), on: { load: resolve, error: resolve } }));
    }));
  }
  return loaded.get(name);
}
