/** Icons of the controls, 16 by 16, drawn with the text's color. */

const PATHS = {
  play: "M5 3.5v9l7.5-4.5z",
  pause: "M5 3.5v9M11 3.5v9",
  back: "M11 4l-5 4 5 4zM4 4v8",
  forward: "M5 4l5 4-5 4zM12 4v8",
  loop: "M3 8a4 4 0 0 1 4-4h5l-2-2m2 2l-2 2M13 8a4 4 0 0 1-4 4H4l2 2m-2-2l2-2",
  sound: "M3 6.5v3h2l3 2.5v-8l-3 2.5zM10.5 6a3 3 0 0 1 0 4",
  muted: "M3 6.5v3h2l3 2.5v-8l-3 2.5zM10.5 6.5l3 3m0-3l-3 3",
  reject: "M3 8a5 5 0 1 0 10 0a5 5 0 1 0-10 0m1.5-3.5l7 7",
  close: "M4 4l8 8m0-8l-8 8",
  copy: "M6 6h7v7H6zM3.5 10V3H10",
  check: "M3.5 8.5l3 3 6-7",
  search: "M7 11.5a4.5 4.5 0 1 0 0-9a4.5 4.5 0 0 0 0 9m3.3-1.2l3.2 3.2",
  swap: "M3 6h9l-2.5-2.5M13 10H4l2.5 2.5",
  previous: "M10 3.5L5.5 8l4.5 4.5",
  next: "M6 3.5l4.5 4.5L6 12.5",
  filter: "M2.5 4h11M4.5 8h7M6.5 12h3",
  theme: "M8 2.5a5.5 5.5 0 1 0 0 11zM8 2.5a5.5 5.5 0 0 1 0 11",
  keyboard: "M2 4.5h12v7H2zM4.5 7h.1M7 7h.1M9.5 7h.1M11.5 7h.1M5 9.5h6",
  edit: "M3 13l1-3.5L10.5 3 13 5.5 6.5 12z",
  again: "M12.5 8a4.5 4.5 0 1 1-1.4-3.2M12.5 2.5v3h-3",
  stop: "M4.5 4.5h7v7h-7z",
  plus: "M8 3.5v9M3.5 8h9",
  minus: "M3.5 8h9",
} as const;

export type IconName = keyof typeof PATHS;

export function Icon({ name }: { name: IconName }) {
  return (
    <svg class="icon" viewBox="0 0 16 16" aria-hidden="true">
      <path d={PATHS[name]} />
    </svg>
  );
}
