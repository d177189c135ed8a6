-- Format 10: existing work that a live run of another process has claimed is named as the status of its shot.

-- Quotes within a string are escaped in JSON, so no text of a service or a file contains this.
UPDATE events SET body = replace(body, '"kind":"claimed-by-run"', '"kind":"claimed-by-other-run"')
WHERE version = 2 AND body LIKE '%"kind":"claimed-by-run"%';
