package lectus.http.client;

import java.io.IOException;
import java.net.URI;
import java.net.URLEncoder;
import java.net.UnknownHostException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.function.IntPredicate;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import lectus.error.LectusException;
import lectus.http.HttpDate;
import lectus.http.client.HttpCall.CallBody;
import lectus.http.client.HttpCaller.WholeAnswer;
import lectus.json.JsonValue;

/**
 * Asks one server that speaks CouchDB's API: logs in, repeats what may pass, follows redirections.
 * Thread-safe; its methods wait.
 */
public final class CouchClient {
  private static final String JSON = "application/json";
  private static final int UNAUTHORIZED = 401;
  private static final int TIMEOUT = 408;
  private static final int TOO_MANY = 429;
  private static final int FAILED = 500;
  private static final int MAX_REDIRECTIONS = 5;
  private static final Set<Integer> REDIRECTIONS = Set.of(301, 302, 303, 307, 308);

  /** How long an answer may be that is read as a whole, and what is made of it: 16 MB. */
  private static final int MAX_JSON_BYTES = 16 << 20;

  /** How many characters of a text are taken of an answer. */
  private static final int LONGEST_TEXT = 4_096;

  private static final long FIRST_PAUSE_MILLIS = 250;
  private static final long LONGEST_PAUSE_MILLIS = 60_000;

  private final HttpCaller caller;
  private final RemoteAddress address;
  private final int retries;
  private final Duration patience;
  private final BooleanSupplier isStopped;
  private final Sessions sessions = new Sessions();

  /**
   * @param retries how often a request is repeated
   * @param patience how long no byte may come
   * @param isStopped whether nobody wants an answer any more
   */
  public CouchClient(
      HttpCaller caller,
      RemoteAddress address,
      int retries,
      Duration patience,
      BooleanSupplier isStopped) {
    this.caller = caller;
    this.address = address;
    this.retries = retries;
    this.patience = patience;
    this.isStopped = isStopped;
  }

  public RemoteAddress address() {
    return address;
  }

  /** Returns a name as a part of a path, or of a query. */
  public static String encoded(String name) {
    return URLEncoder.encode(name, StandardCharsets.UTF_8).replace("+", "%20");
  }

  /**
   * The server did not do what it was asked for, and there is no use in asking again at once.
   *
   * <p>It says nothing of passwords.
   */
  public static final class RemoteFailure extends RuntimeException {
    private static final long serialVersionUID = 1;

    private final int status;
    private final long pauseMillis;

    /**
     * @param status 0: there was no answer
     * @param pauseMillis for which the server wants to be left alone
     */
    RemoteFailure(int status, long pauseMillis, String message, Throwable cause) {
      super(message, cause);
      this.status = status;
      this.pauseMillis = pauseMillis;
    }

    public int status() {
      return status;
    }

    public long pauseMillis() {
      return pauseMillis;
    }
  }

  /** An answer that is JSON, or none. */
  public record JsonAnswer(int status, JsonValue json) {
    /**
     * Returns a text among its members, or the beginning of a long one, since reasons are kept and
     * shown; empty if it has none.
     */
    public String text(String member) {
      return json.textOf(member).map(JsonAnswer::beginning).orElse("");
    }

    private static String beginning(String text) {
      if (text.length() <= LONGEST_TEXT) {
        return text;
      }
      boolean isPair = Character.isHighSurrogate(text.charAt(LONGEST_TEXT - 1));
      return text.substring(0, isPair ? LONGEST_TEXT - 1 : LONGEST_TEXT);
    }

    public boolean isOk() {
      return status / 100 == 2;
    }
  }

  /**
   * Sends a request and reads the whole answer, whatever its status below 500.
   *
   * @param target a path and a query, relative to the address
   * @throws RemoteFailure no answer, or none that may be of use
   */
  public JsonAnswer json(String method, String target, Optional<byte[]> body) {
    return json(method, target, body.map(CallBody::of), JSON);
  }

  /** Like {@link #json}, with a body of another type. */
  public JsonAnswer json(
      String method, String target, Optional<CallBody> body, String contentType) {
    return attempt(
        method,
        target,
        body.map(CallBody::isRepeatable).orElse(true),
        () -> {
          try (HttpAnswer answer = once(method, target, body, contentType, JSON)) {
            byte[] bytes = answer.bytes(MAX_JSON_BYTES);
            return new JsonAnswer(answer.status(), parsed(bytes));
          }
        });
  }

  private static JsonValue parsed(byte[] bytes) throws IOException {
    if (JsonValue.treeBytes(bytes) > MAX_JSON_BYTES) {
      throw new IOException("The answer takes more than " + MAX_JSON_BYTES + " bytes of memory.");
    }
    try {
      return JsonValue.parse(bytes);
    } catch (LectusException none) {
      return new JsonValue.JsonNull();
    }
  }

  /**
   * Sends a request and returns the answer when its head has come, whatever its status below 500.
   * Only what comes before the body is repeated.
   */
  public HttpAnswer open(String method, String target, Optional<byte[]> body, String accept) {
    return attempt(
        method, target, true, () -> once(method, target, body.map(CallBody::of), JSON, accept));
  }

  /**
   * Sends a request whose answer may take any time, once.
   *
   * @param room is asked before the answer takes more memory, with all its bytes
   * @return fails with {@link RemoteFailure} where another attempt may help
   */
  public CompletableFuture<WholeAnswer> fetch(
      String method, String target, Optional<byte[]> body, IntPredicate room) {
    CompletableFuture<WholeAnswer> fetched = new CompletableFuture<>();
    CompletableFuture<WholeAnswer> sent;
    try {
      sent = caller.fetch(call(method, target, body.map(CallBody::of), JSON, JSON), room);
    } catch (IOException failure) {
      return CompletableFuture.failedFuture(failed(method, target, failure));
    }
    sent.whenComplete(
        (answer, failure) -> {
          if (failure instanceof IOException cut) {
            fetched.completeExceptionally(failed(method, target, cut));
          } else if (failure != null) {
            fetched.completeExceptionally(failure);
          } else if (isPassing(answer.status())
              || (answer.status() == UNAUTHORIZED && sessions.mayHelp())) {
            Passing passing = new Passing(answer.status(), pauseMillis(answer.retryAfter()));
            fetched.completeExceptionally(failed(method, target, passing));
          } else {
            fetched.complete(answer);
          }
        });
    fetched.whenComplete((answer, failure) -> sent.cancel(false));
    return fetched;
  }

  private static boolean isPassing(int status) {
    return status == TIMEOUT || status == TOO_MANY || status >= FAILED;
  }

  /** One attempt at something. */
  private interface Attempt<T> {
    T make() throws IOException;
  }

  /** A server that is busy, or does not do its work. */
  private static final class Passing extends IOException {
    private static final long serialVersionUID = 1;

    private final int status;
    private final long pauseMillis;

    Passing(int status, long pauseMillis) {
      super("status " + status);
      this.status = status;
      this.pauseMillis = pauseMillis;
    }
  }

  private <T> T attempt(String method, String target, boolean isRepeatable, Attempt<T> attempt) {
    for (int left = isRepeatable ? retries : 0; ; left--) {
      try {
        return attempt.make();
      } catch (IOException failure) {
        if (left <= 0 || isStopped.getAsBoolean() || failure instanceof UnknownHostException) {
          throw failed(method, target, failure);
        }
        long asked = failure instanceof Passing busy ? busy.pauseMillis : 0;
        pause(retries - left, asked, isStopped);
      }
    }
  }

  /**
   * Waits before another attempt, longer each time, unless nobody wants it any more.
   *
   * @param failures how many attempts have failed before the last one
   * @param asked for how many milliseconds the server wants to be left alone
   */
  public static void pause(int failures, long asked, BooleanSupplier isStopped) {
    long usual = Math.min(LONGEST_PAUSE_MILLIS, FIRST_PAUSE_MILLIS << Math.min(failures, 8));
    sleep(Math.max(asked, usual / 2 + ThreadLocalRandom.current().nextLong(usual)), isStopped);
  }

  private RemoteFailure failed(String method, String target, IOException failure) {
    String url = url(target).toString().split("\\?", 2)[0];
    if (failure instanceof UnknownHostException) {
      return new RemoteFailure(0, 0, "could not resolve " + url, failure);
    }
    int status = failure instanceof Passing busy ? busy.status : 0;
    long pause = failure instanceof Passing busy ? busy.pauseMillis : 0;
    return new RemoteFailure(
        status, pause, method + ' ' + url + ": " + failure.getMessage(), failure);
  }

  /** Looks at times whether it is still wanted. */
  private static void sleep(long millis, BooleanSupplier isStopped) {
    long end = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(millis);
    try {
      while (!isStopped.getAsBoolean() && end - System.nanoTime() > 0) {
        TimeUnit.NANOSECONDS.sleep(
            Math.min(end - System.nanoTime(), TimeUnit.MILLISECONDS.toNanos(100)));
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  /** What begins with {@code ../} is beside what the address names. */
  private URI url(String target) {
    return target.startsWith("../")
        ? address.url().resolve(target)
        : URI.create(address.url() + target);
  }

  private HttpAnswer once(
      String method, String target, Optional<CallBody> body, String contentType, String accept)
      throws IOException {
    HttpCall call = call(method, target, body, contentType, accept);
    HttpAnswer answer = followed(call);
    if (answer.status() == UNAUTHORIZED && sessions.mayHelp()) {
      answer.close();
      if (body.isPresent() && !body.get().isRepeatable()) {
        throw new Passing(UNAUTHORIZED, 0);
      }
      answer = followed(call(method, target, body, contentType, accept));
    }
    int status = answer.status();
    if (isPassing(status)) {
      long pause = pauseMillis(answer.header("Retry-After"));
      answer.close();
      throw new Passing(status, pause);
    }
    return answer;
  }

  /** Returns how long a server wants to be left alone, but for no longer than a minute. */
  public static long pauseMillis(Optional<String> retryAfter) {
    if (retryAfter.isEmpty()) {
      return 0;
    }
    String text = retryAfter.get().strip();
    long millis =
        text.matches("[0-9]{1,9}")
            ? TimeUnit.SECONDS.toMillis(Long.parseLong(text))
            : HttpDate.parse(text)
                .map(it -> Duration.between(Instant.now(), it).toMillis())
                .orElse(0L);
    return Math.min(LONGEST_PAUSE_MILLIS, Math.max(0, millis));
  }

  private HttpAnswer followed(HttpCall first) throws IOException {
    HttpCall call = first;
    for (int i = 0; i < MAX_REDIRECTIONS; i++) {
      HttpAnswer answer = caller.send(call);
      Optional<String> location = answer.header("Location");
      boolean mayFollow =
          REDIRECTIONS.contains(answer.status())
              && location.isPresent()
              && call.body().map(CallBody::isRepeatable).orElse(true);
      if (!mayFollow) {
        return answer;
      }
      answer.close();
      call = redirected(call, location.get());
    }
    throw new IOException("More than " + MAX_REDIRECTIONS + " redirections.");
  }

  /** What was given for one server is for no other. */
  private static HttpCall redirected(HttpCall call, String location) throws IOException {
    URI other;
    try {
      other = call.url().resolve(location);
    } catch (IllegalArgumentException e) {
      throw new IOException("A redirection to something that is no URL.", e);
    }
    if (other.getHost() == null || !other.getScheme().matches("(?i)https?")) {
      throw new IOException("A redirection to something that is no URL of HTTP.");
    }
    Map<String, String> headers = new HashMap<>(call.headers());
    if (!RemoteAddress.isSameOrigin(call.url(), other)) {
      headers.keySet().retainAll(Set.of("Accept", "Content-Type", "User-Agent"));
    }
    return call.to(other, headers);
  }

  private HttpCall call(
      String method, String target, Optional<CallBody> body, String contentType, String accept)
      throws IOException {
    Map<String, String> headers = new HashMap<>(address.headers());
    headers.put("Accept", accept);
    headers.putIfAbsent("User-Agent", "Lectus-Replicator");
    if (body.isPresent()) {
      headers.put("Content-Type", contentType);
    }
    sessions.addTo(headers);
    return new HttpCall(method, url(target), headers, body, patience, isStopped);
  }

  /**
   * The log-in at the server. A cookie is cheaper for the server than a password in each request,
   * which it would have to hash; where there are none, the password is sent.
   */
  private final class Sessions {
    private static final Pattern COOKIE = Pattern.compile("(AuthSession=[^;]+)");
    private static final Pattern AGE = Pattern.compile("(?i)max-age=([0-9]{1,9})");

    /** CouchDB's sessions last ten minutes by default. */
    private static final long USUAL_SECONDS = 600;

    private Optional<String> cookie = Optional.empty();
    private boolean hasNone;
    private long renewAt;
    private volatile boolean isDue = true;

    /** Whether a new session may let in who was refused. */
    synchronized boolean mayHelp() {
      boolean had = cookie.isPresent();
      isDue = true;
      return had;
    }

    synchronized void addTo(Map<String, String> headers) throws IOException {
      if (address.login().isEmpty()) {
        return;
      }
      if (!hasNone && (isDue || renewAt - System.nanoTime() < 0)) {
        renew();
      }
      if (cookie.isPresent()) {
        headers.merge("Cookie", cookie.get(), (given, own) -> given + "; " + own);
      } else {
        headers.put("Authorization", address.login().get().basic());
      }
    }

    private void renew() throws IOException {
      RemoteAddress.Login login = address.login().orElseThrow();
      String form = "name=" + encoded(login.name()) + "&password=" + encoded(login.password());
      Map<String, String> headers = new HashMap<>(address.headers());
      headers.put("Content-Type", "application/x-www-form-urlencoded");
      headers.put("Accept", JSON);
      HttpCall call =
          new HttpCall(
              "POST",
              url("../_session"),
              headers,
              Optional.of(CallBody.of(form.getBytes(StandardCharsets.UTF_8))),
              patience,
              isStopped);
      try (HttpAnswer answer = caller.send(call)) {
        Matcher found = COOKIE.matcher(answer.header("Set-Cookie").orElse(""));
        isDue = false;
        if (answer.status() == 200 && found.find()) {
          cookie = Optional.of(found.group(1));
          Matcher age = AGE.matcher(answer.header("Set-Cookie").orElse(""));
          long seconds = age.find() ? Long.parseLong(age.group(1)) : USUAL_SECONDS;
          renewAt = System.nanoTime() + TimeUnit.SECONDS.toNanos(seconds * 3 / 4);
        } else {
          cookie = Optional.empty();
          hasNone = answer.status() < FAILED;
        }
      }
    }
  }
}
