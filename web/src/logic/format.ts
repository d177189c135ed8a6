/** Numbers as people read them. */

export function formatSeconds(seconds: number | null): string {
  if (seconds === null || !Number.isFinite(seconds)) return "–";
  return `${seconds.toFixed(seconds < 10 ? 2 : 1)} s`;
}

/** `1:05.2` */
export function formatTime(seconds: number): string {
  const whole = Math.max(0, Number.isFinite(seconds) ? seconds : 0);
  const minutes = Math.floor(whole / 60);
  return `${minutes}:${(whole - 60 * minutes).toFixed(1).padStart(4, "0")}`;
}

/** How long something took. */
export function formatDuration(ms: number | null): string {
  if (ms === null) return "–";
  if (ms < 60_000) return `${(ms / 1000).toFixed(1)} s`;
  const minutes = Math.floor(ms / 60_000);
  if (minutes < 60) return `${minutes} min ${Math.round((ms % 60_000) / 1000)} s`;
  return `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

/** An amount in millionths of a currency. */
export function formatCost(micros: number | null, currency: string | null): string {
  if (micros === null) return "–";
  const amount = micros / 1_000_000;
  const digits = amount !== 0 && Math.abs(amount) < 0.01 ? 4 : 2;
  return currency === null ? amount.toFixed(digits) : `${amount.toFixed(digits)} ${currency}`;
}

export function formatBytes(bytes: number | null): string {
  if (bytes === null) return "–";
  if (bytes < 1_000) return `${bytes} B`;
  if (bytes < 1_000_000) return `${(bytes / 1_000).toFixed(0)} kB`;
  return `${(bytes / 1_000_000).toFixed(1)} MB`;
}

export function formatDate(ms: number | null): string {
  if (ms === null) return "–";
  const date = new Date(ms);
  if (Number.isNaN(date.getTime())) return "–";
  const pad = (value: number) => String(value).padStart(2, "0");
  return `${date.getFullYear()}-${pad(date.getMonth() + 1)}-${pad(date.getDate())} ${pad(date.getHours())}:${pad(date.getMinutes())}`;
}

export function count(number: number, singular: string, plural = `${singular}s`): string {
  return `${number.toLocaleString("en")} ${number === 1 ? singular : plural}`;
}
