/** A component that renders again only if one of its properties changed. */
import { Component, createElement, type ComponentType } from "preact";

export function memo<P extends object>(type: ComponentType<P>): ComponentType<P> {
  return class Memo extends Component<P> {
    override shouldComponentUpdate(next: P): boolean {
      const names = new Set([...Object.keys(this.props), ...Object.keys(next)]) as Set<keyof P>;
      return [...names].some((name) => this.props[name as keyof typeof this.props] !== next[name]);
    }
    override render() {
      return createElement(type, this.props as P);
    }
  };
}
