package lectus.http.admin;

import java.util.Locale;
import java.util.Map;

/** The media types of files, by the ends of their names. Browsers are told not to guess. */
public final class FileTypes {
  private static final String UNKNOWN = "application/octet-stream";

  private static final Map<String, String> BY_ENDING =
      Map.ofEntries(
          Map.entry("html", "text/html; charset=utf-8"),
          Map.entry("css", "text/css; charset=utf-8"),
          Map.entry("js", "text/javascript; charset=utf-8"),
          Map.entry("mjs", "text/javascript; charset=utf-8"),
          Map.entry("txt", "text/plain; charset=utf-8"),
          Map.entry("json", "application/json"),
          Map.entry("map", "application/json"),
          Map.entry("xml", "application/xml"),
          Map.entry("wasm", "application/wasm"),
          Map.entry("svg", "image/svg+xml"),
          Map.entry("png", "image/png"),
          Map.entry("gif", "image/gif"),
          Map.entry("jpg", "image/jpeg"),
          Map.entry("jpeg", "image/jpeg"),
          Map.entry("webp", "image/webp"),
          Map.entry("ico", "image/x-icon"),
          Map.entry("woff", "font/woff"),
          Map.entry("woff2", "font/woff2"),
          Map.entry("ttf", "font/ttf"),
          Map.entry("otf", "font/otf"),
          Map.entry("eot", "application/vnd.ms-fontobject"));

  private FileTypes() {}

  public static String of(String fileName) {
    String ending = fileName.substring(fileName.lastIndexOf('.') + 1);
    return BY_ENDING.getOrDefault(ending.toLowerCase(Locale.ROOT), UNKNOWN);
  }
}
