package lectus.server.connection;

/** The first bytes of handshakes that Java's own clients would not begin. */
final class Hellos {
  private Hellos() {}

  /** Returns a ClientHello (RFC 5246, section 7.4.1.2) that offers one version, one cipher. */
  static byte[] ofVersion(int major, int minor) {
    return of(major, minor, 0x002f);
  }

  /**
   * @param cipher its number, such as 0x002f for TLS_RSA_WITH_AES_128_CBC_SHA
   */
  static byte[] of(int major, int minor, int cipher) {
    byte[] hello = new byte[5 + 4 + 41];
    hello[0] = 22; // a handshake
    hello[1] = 3;
    hello[2] = 1;
    hello[4] = 4 + 41;
    hello[5] = 1; // ClientHello
    hello[8] = 41;
    hello[9] = (byte) major;
    hello[10] = (byte) minor;
    // 32 random bytes, no session
    hello[45] = 2; // bytes of ciphers
    hello[46] = (byte) (cipher >> Byte.SIZE);
    hello[47] = (byte) cipher;
    hello[48] = 1; // compressions
    return hello;
  }
}
