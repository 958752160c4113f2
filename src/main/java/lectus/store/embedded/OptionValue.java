package lectus.store.embedded;

/** Decodes and validates option values. */
final class OptionValue {
  private static final int NUMBER_BYTES = 8;

  private OptionValue() {}

  /**
   * Decodes a number of 8 bytes, little-endian.
   *
   * @throws com.apple.foundationdb.FDBException 2006 if it is not a number or out of bounds
   */
  static long number(byte[] value, long least, long most) {
    if (value == null || value.length != NUMBER_BYTES) {
      throw StoreError.INVALID_OPTION_VALUE.exception();
    }
    long number = 0;
    for (int i = NUMBER_BYTES - 1; i >= 0; i--) {
      number = number << 8 | (value[i] & 0xFF);
    }
    if (number < least || number > most) {
      throw StoreError.INVALID_OPTION_VALUE.exception();
    }
    return number;
  }

  /**
   * @throws com.apple.foundationdb.FDBException 2006 if there is a value
   */
  static void none(byte[] value) {
    if (value != null && value.length > 0) {
      throw StoreError.INVALID_OPTION_VALUE.exception();
    }
  }
}
