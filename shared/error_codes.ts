/** The error codes that a function may return, and the HTTP status of each. */
export const STATUS = {
  invalid_request: 400,
  unauthorized: 401,
  forbidden: 403,
  suspended: 403,
  not_found: 404,
  method_not_allowed: 405,
  request_timeout: 408,
  payload_too_large: 413,
  unsupported_media_type: 415,
  rate_limited: 429,
  internal: 500,
  overloaded: 503,
  unavailable: 503,
} as const;

export type ErrorCode = keyof typeof STATUS;
export type ErrorStatus = (typeof STATUS)[ErrorCode];
