package lectus.json;

import com.fasterxml.jackson.core.io.NumberOutput;

/**
 * Writes doubles as JSON. The digits are the fewest that read back as the same double. ({@code
 * Double.toString} finds them since JDK 19, which considers {@code 4.9e-324} nearer than {@code
 * 5e-324}.) The form is that of ECMAScript's Number::toString, with {@code .0} after integral
 * values so that they come back as doubles.
 */
final class DoubleText {
  /** Below this, every integral double is a long, and its digits are the shortest. */
  private static final double EXACT_INTEGERS = 0x1p53;

  /** Values from 10 to this power, and below 10 to the other power, have an exponent. */
  private static final int LARGEST_PLAIN_EXPONENT = 21;

  private static final int SMALLEST_PLAIN_EXPONENT = -6;

  private DoubleText() {}

  static void append(double value, JsonBuffer out) {
    if (!Double.isFinite(value)) {
      throw new IllegalArgumentException("JSON has no " + value);
    }
    long integral = (long) value;
    if (integral == value && Math.abs(value) < EXACT_INTEGERS) {
      if (integral == 0 && Double.doubleToRawLongBits(value) < 0) {
        out.octet('-');
      }
      out.number(integral).ascii(".0");
      return;
    }
    String text = NumberOutput.toString(value, true);
    int exponentAt = text.indexOf('E');
    if (exponentAt < 0) {
      out.ascii(text);
    } else {
      place(text, exponentAt, out);
    }
  }

  /** Rewrites Java's {@code d.dddE±n}. */
  private static void place(String text, int exponentAt, JsonBuffer out) {
    int first = text.charAt(0) == '-' ? 1 : 0;
    if (first == 1) {
      out.octet('-');
    }
    int exponent = Integer.parseInt(text, exponentAt + 1, text.length(), 10);
    String fraction = text.substring(first + 2, exponentAt);
    String digits = text.charAt(first) + (fraction.equals("0") ? "" : fraction);
    if (exponent >= LARGEST_PLAIN_EXPONENT || exponent < SMALLEST_PLAIN_EXPONENT) {
      scientific(digits, exponent, out);
    } else if (exponent < 0) {
      out.ascii("0.").ascii("0".repeat(-exponent - 1)).ascii(digits);
    } else {
      plain(digits, exponent + 1, out);
    }
  }

  private static void scientific(String digits, int exponent, JsonBuffer out) {
    out.octet(digits.charAt(0));
    if (digits.length() > 1) {
      out.octet('.').ascii(digits.substring(1));
    }
    out.octet('e').octet(exponent < 0 ? '-' : '+').number(Math.abs(exponent));
  }

  private static void plain(String digits, int point, JsonBuffer out) {
    if (digits.length() > point) {
      out.ascii(digits.substring(0, point)).octet('.').ascii(digits.substring(point));
    } else {
      out.ascii(digits).ascii("0".repeat(point - digits.length())).ascii(".0");
    }
  }
}
