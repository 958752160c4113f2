package lectus.server.tls;

/** The first bytes of handshakes that Java's own clients would not begin. */
final class Hellos {
  private Hellos() {}

  /** Returns a ClientHello (RFC 5246, section 7.4.1.2) that offers one version, one cipher. */
  static byte[] ofVersion(int major, int minor) {
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
    hello[47] = 0x2f;
    hello[48] = 1; // compressions
    return hello;
  }
}
