package lectus.config;

import java.util.List;

/** Encrypted connections. */
public final class TlsKeys {
  static final KeySection SECTION = new KeySection("TLS");

  public static final ConfigurationKey<String> CERTIFICATE =
      SECTION.key(
          "tls.certificate",
          ValueType.TEXT,
          "",
          """
          A file in PEM form with the server's certificate, followed by those of its
          issuers. With it, the port takes TLS 1.2 and 1.3 and nothing else. The file is
          read again when it changes.
          """);

  public static final ConfigurationKey<String> KEY =
      SECTION.key(
          "tls.key",
          ValueType.TEXT,
          "",
          """
          A file in PEM form with the certificate's private key: RSA, EC,
          Ed25519 or Ed448, not encrypted. Without one, the key is in the certificate's file.
          """);

  public static final ConfigurationKey<String> KEYSTORE =
      SECTION.key(
          "tls.keystore",
          ValueType.TEXT,
          "",
          """
          A PKCS#12 store with the private key and its certificates, in place of the
          two files.
          """);

  public static final ConfigurationKey<String> KEYSTORE_PASSWORD =
      SECTION.key(
          "tls.keystore-password",
          ValueType.SECRET,
          "",
          """
          The password of the store. Best given in the environment, or in a file that
          LECTUS_TLS_KEYSTORE_PASSWORD_FILE names.
          """);

  public static final ConfigurationKey<String> CLIENT_CERTIFICATES =
      SECTION.key(
          "tls.client-certificates",
          ValueType.oneOf(List.of("none", "optional", "required")),
          "none",
          """
          Whether clients are asked for a certificate of their own. required: one that
          has none cannot connect. A certificate lets a client in and says nothing of
          its rights.
          """);

  public static final ConfigurationKey<String> CLIENT_CA =
      SECTION.key(
          "tls.client-ca",
          ValueType.TEXT,
          "",
          "A file in PEM form with the certificates that sign those of clients.");

  public static final ConfigurationKey<Integer> HSTS_SECONDS =
      SECTION.number(
          "tls.hsts-seconds",
          0,
          0,
          63_072_000,
          """
          How long browsers that came over TLS shall come over nothing else, in seconds
          (Strict-Transport-Security). It holds for the whole host, whatever its ports
          serve. 0: the header is not sent.
          """);

  private TlsKeys() {}
}
