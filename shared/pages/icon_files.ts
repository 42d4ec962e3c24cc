/** The icon for light and dark backgrounds; the name contains the first characters of the SHA-256 of the bytes. */
// deno-fmt-ignore
export const ICON_FILES = [
  {"name":"light-c7acffa7f6cc25b8.svg","theme":"light","type":"image/svg+xml","sizes":"any","base64":"PHN2ZyB4bWxucz0iaHR0cDovL3d3dy53My5vcmcvMjAwMC9zdmciIHZpZXdCb3g9IjAgMCAxNiAxNiI+PHBhdGggZmlsbD0iIzBiNWY0YyIgZD0iTTMgMmgxMHYzSDN6TTMgMTFoMTB2M0gzeiIvPjwvc3ZnPg=="},
  {"name":"light-c7272d9cc70f0a55.png","theme":"light","type":"image/png","sizes":"512x512","base64":"iVBORw0KGgoAAAANSUhEUgAAAgAAAAIAAQMAAADOtka5AAAABlBMVEX///8LX0wb3nC/AAAAAnRSTlMA/1uRIrUAAABmSURBVHja7dwxDQAwDMCw8CfdUWjPSTaAQEgBAAAAHMySgICAgICAgICAgICAgICAgICAgICAgIAAAAAAAAAAAAAAAABA/kgCAgICAgICAgICAgICAgICAgICAgICAvkjAQAAAN94WGzjtIyjmj4AAAAASUVORK5CYII="},
  {"name":"dark-ee42ccfc42dc3f68.svg","theme":"dark","type":"image/svg+xml","sizes":"any","base64":"PHN2ZyB4bWxucz0iaHR0cDovL3d3dy53My5vcmcvMjAwMC9zdmciIHZpZXdCb3g9IjAgMCAxNiAxNiI+PHBhdGggZmlsbD0iIzc0ZDBiNCIgZD0iTTMgMmgxMHYzSDN6TTMgMTFoMTB2M0gzeiIvPjwvc3ZnPg=="},
  {"name":"dark-58c6639dd3101255.png","theme":"dark","type":"image/png","sizes":"512x512","base64":"iVBORw0KGgoAAAANSUhEUgAAAgAAAAIAAQMAAADOtka5AAAABlBMVEX///900LRLDqF4AAAAAnRSTlMA/1uRIrUAAABmSURBVHja7dwxDQAwDMCw8CfdUWjPSTaAQEgBAAAAHMySgICAgICAgICAgICAgICAgICAgICAgIAAAAAAAAAAAAAAAABA/kgCAgICAgICAgICAgICAgICAgICAgICAvkjAQAAAN94WGzjtIyjmj4AAAAASUVORK5CYII="},
] as const;
