/** The string formats that a schema can demand; unknown ones are ignored. */
import { isIPv4, isIPv6 } from "node:net";

const DATE_TIME = /^(\d{4})-(\d\d)-(\d\d)[Tt](\d\d):(\d\d):(\d\d)(\.\d+)?([Zz]|[+-]\d\d:\d\d)$/;
const DATE = /^\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])$/;
const GO_DURATION = /^[+-]?(\d+(\.\d*)?|\.\d+)(ns|us|µs|μs|ms|s|m|h)((\d+(\.\d*)?|\.\d+)(ns|us|µs|μs|ms|s|m|h))*$|^0$/;
const WORD_DURATION =
  /^\d+\s*(ns|nano|us|µs|micro|ms|milli|s|sec|secs|second|seconds|m|min|mins|minute|minutes|h|hr|hrs|hour|hours|d|day|days|w|wk|week|weeks)$/i;
const UUID = /^[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}$/i;
const EMAIL = /^[^\s@<>]+@[^\s@<>]+$/;
const HOSTNAME = /^([a-zA-Z0-9]([-a-zA-Z0-9]{0,61}[a-zA-Z0-9])?)(\.[a-zA-Z0-9]([-a-zA-Z0-9]{0,61}[a-zA-Z0-9])?)*\.?$/;
const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;
const SHORT_NAME = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/;

function isUri(text: string): boolean {
  if (!URL.canParse(text)) return text.startsWith("/");
  return true;
}

function isCidr(text: string): boolean {
  const [address = "", bits = ""] = text.split("/");
  if (!/^\d+$/.test(bits)) return false;
  return (isIPv4(address) && Number(bits) <= 32) || (isIPv6(address) && Number(bits) <= 128);
}

const formats: Readonly<Record<string, (text: string) => boolean>> = {
  "date-time": (text) => DATE_TIME.test(text) && !Number.isNaN(Date.parse(text)),
  datetime: (text) => DATE_TIME.test(text) && !Number.isNaN(Date.parse(text)),
  date: (text) => DATE.test(text) && !Number.isNaN(Date.parse(text)),
  duration: (text) => GO_DURATION.test(text) || WORD_DURATION.test(text),
  ipv4: isIPv4,
  ipv6: isIPv6,
  email: (text) => EMAIL.test(text),
  uuid: (text) => UUID.test(text),
  uri: isUri,
  byte: (text) => BASE64.test(text),
  hostname: (text) => text.length <= 255 && HOSTNAME.test(text),
  cidr: isCidr,
  "k8s-short-name": (text) => text.length <= 63 && SHORT_NAME.test(text),
};

/** Whether the text has the format; undefined when the format is not known. */
export const hasFormat = (text: string, format: string): boolean | undefined => formats[format]?.(text);

/** Formats that cause no `unrecognized format` warning. */
export const knownFormat = (format: string): boolean =>
  format in formats ||
  [
    "int32",
    "int64",
    "float",
    "double",
    "password",
    "binary",
    "regex",
    "mac",
    "isbn",
    "isbn10",
    "isbn13",
    "creditcard",
    "ssn",
    "hexcolor",
    "rgbcolor",
    "bsonobjectid",
    "k8s-long-name",
  ].includes(format);
