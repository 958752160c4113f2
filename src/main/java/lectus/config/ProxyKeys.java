package lectus.config;

import java.util.List;
import lectus.http.AddressRange;

/** The proxies in front of the server. */
public final class ProxyKeys {
  static final KeySection SECTION = new KeySection("Proxies in front of it");

  public static final ConfigurationKey<List<AddressRange>> TRUSTED_PROXIES =
      SECTION.key(
          "http.trusted-proxies",
          ValueType.ADDRESSES,
          "",
          """
          The proxies that are believed when a header says who their client is and how it
          asked. Such headers of anybody else are ignored. The access log, lock-outs and
          the limits of users use that address; host and scheme become part of Location.
          """);

  public static final ConfigurationKey<String> FORWARDED_HEADER =
      SECTION.key(
          "http.forwarded-header",
          ValueType.oneOf(List.of("x-forwarded", "forwarded")),
          "x-forwarded",
          """
          Which header those proxies write: X-Forwarded-For, -Host and -Proto, or
          Forwarded of RFC 7239. The other is ignored, because a proxy that does not
          write it passes on what its client wrote.
          """);

  public static final ConfigurationKey<List<AddressRange>> PROXY_PROTOCOL =
      SECTION.key(
          "http.proxy-protocol",
          ValueType.ADDRESSES,
          "",
          """
          The proxies that announce the client of each connection before its first byte,
          by the PROXY protocol, version 1 or 2. A connection from there without an
          announcement is closed, and so is one from elsewhere with one.
          """);

  private ProxyKeys() {}
}
