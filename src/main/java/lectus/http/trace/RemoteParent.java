package lectus.http.trace;

import io.opentelemetry.api.trace.Span;
import io.opentelemetry.api.trace.SpanContext;
import io.opentelemetry.api.trace.TraceFlags;
import io.opentelemetry.api.trace.TraceState;
import io.opentelemetry.context.Context;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The span of the client for which a request is sent, as W3C's Trace Context has it. */
final class RemoteParent {
  /** Later versions may have more after the part that the first one has. */
  private static final int LONGEST = 128;

  private static final Pattern FORM =
      Pattern.compile("([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?");

  private static final String FIRST_VERSION = "00";
  private static final String NO_VERSION = "ff";

  private RemoteParent() {}

  /** Returns the root for headers that are absent, malformed or several. */
  static Context of(List<String> headers) {
    if (headers.size() != 1 || headers.get(0).length() > LONGEST) {
      return Context.root();
    }
    Matcher parts = FORM.matcher(headers.get(0));
    return parts.matches() && isKnown(parts.group(1), parts.group(5))
        ? of(parts.group(2), parts.group(3), parts.group(4))
        : Context.root();
  }

  private static boolean isKnown(String version, String more) {
    return !version.equals(NO_VERSION) && (more == null || !version.equals(FIRST_VERSION));
  }

  /** Ids of nothing but zeros are none. */
  private static Context of(String trace, String span, String flags) {
    SpanContext parent =
        SpanContext.createFromRemoteParent(
            trace, span, TraceFlags.fromHex(flags, 0), TraceState.getDefault());
    return parent.isValid() ? Context.root().with(Span.wrap(parent)) : Context.root();
  }
}
