package lectus.store.embedded.engine;

import static org.assertj.core.api.Assertions.assertThat;

import com.apple.foundationdb.MutationType;
import java.util.HexFormat;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Each operation on a missing, empty, shorter, equal and longer value
 * (docs/foundationdb-contract.md, section 6).
 */
class AtomicOperationsTest {
  @ParameterizedTest(name = "{0} of {1} with {2} is {3}")
  @CsvSource({
    "ADD, -, 0102, 0102",
    "ADD, '', 0102, 0102",
    "ADD, ff, 0101, 0002",
    "ADD, ffff, 0100, 0000",
    "ADD, 010203, 0101, 0203",
    "ADD, 0102, '', ''",
    "BIT_AND, -, 0f0f, 0f0f",
    "BIT_AND, '', 0f0f, 0000",
    "BIT_AND, ff, 0f0f, 0f00",
    "BIT_AND, 3c3c, 0f0f, 0c0c",
    "BIT_AND, ffffff, 0f0f, 0f0f",
    "BIT_AND, ff, '', ''",
    "BIT_OR, -, 0f0f, 0f0f",
    "BIT_OR, '', 0f0f, 0f0f",
    "BIT_OR, f0, 0f0f, ff0f",
    "BIT_OR, 3030, 0f0f, 3f3f",
    "BIT_OR, 303030, 0f0f, 3f3f",
    "BIT_OR, 30, '', ''",
    "BIT_XOR, -, 0f0f, 0f0f",
    "BIT_XOR, '', 0f0f, 0f0f",
    "BIT_XOR, ff, 0f0f, f00f",
    "BIT_XOR, ffff, 0f0f, f0f0",
    "BIT_XOR, ffffff, 0f0f, f0f0",
    "BIT_XOR, ff, '', ''",
    "MAX, -, 0102, 0102",
    "MAX, '', 0102, 0102",
    "MAX, ff, 0001, 0001",
    "MAX, ff, 0100, ff00",
    "MAX, 0002, ff01, 0002",
    "MAX, 0001ff, 0100, 0001",
    "MAX, 000001, 0100, 0100",
    "MAX, ff, '', ''",
    "MIN, -, 0102, 0102",
    "MIN, '', 0102, 0000",
    "MIN, ff, 0001, ff00",
    "MIN, 0002, ff01, ff01",
    "MIN, 000001, 0100, 0000",
    "MIN, ff, '', ''",
    "BYTE_MIN, -, 0102, 0102",
    "BYTE_MIN, '', 0102, ''",
    "BYTE_MIN, 01, 0102, 01",
    "BYTE_MIN, 0103, 0102, 0102",
    "BYTE_MIN, 80, 7f, 7f",
    "BYTE_MIN, 80, '', ''",
    "BYTE_MAX, -, 0102, 0102",
    "BYTE_MAX, '', 0102, 0102",
    "BYTE_MAX, 01, 0102, 0102",
    "BYTE_MAX, 010203, 0102, 010203",
    "BYTE_MAX, 80, 7f, 80",
    "BYTE_MAX, 80, '', 80",
    "APPEND_IF_FITS, -, 0102, 0102",
    "APPEND_IF_FITS, '', 0102, 0102",
    "APPEND_IF_FITS, 00, 0102, 000102",
    "APPEND_IF_FITS, 00, '', 00",
    "COMPARE_AND_CLEAR, -, 0102, -",
    "COMPARE_AND_CLEAR, '', 0102, ''",
    "COMPARE_AND_CLEAR, '', '', -",
    "COMPARE_AND_CLEAR, 0102, 0102, -",
    "COMPARE_AND_CLEAR, 010203, 0102, 010203",
    "COMPARE_AND_CLEAR, 01, '', 01",
  })
  void follows_the_table(MutationType type, String existing, String operand, String expected) {
    assertThat(AtomicOperations.apply(type, parse(existing), parse(operand)))
        .isEqualTo(parse(expected));
  }

  @Test
  @SuppressWarnings("deprecation") // the older names have to do the same
  void older_names_are_the_same_operations() {
    byte[] three = {3};
    byte[] five = {5};

    assertThat(AtomicOperations.apply(MutationType.AND, three, five)).containsExactly(1);
    assertThat(AtomicOperations.apply(MutationType.OR, three, five)).containsExactly(7);
    assertThat(AtomicOperations.apply(MutationType.XOR, three, five)).containsExactly(6);
  }

  @Test
  void append_fits_up_to_the_largest_value() {
    byte[] almostFull = new byte[AtomicOperations.MAX_VALUE_BYTES - 1];

    assertThat(AtomicOperations.apply(MutationType.APPEND_IF_FITS, almostFull, new byte[1]))
        .hasSize(AtomicOperations.MAX_VALUE_BYTES);
    assertThat(AtomicOperations.apply(MutationType.APPEND_IF_FITS, almostFull, new byte[2]))
        .isSameAs(almostFull);
  }

  private static byte[] parse(String hex) {
    return hex.equals("-") ? null : HexFormat.of().parseHex(hex);
  }
}
