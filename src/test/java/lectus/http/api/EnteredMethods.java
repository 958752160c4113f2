package lectus.http.api;

import static net.bytebuddy.matcher.ElementMatchers.isAbstract;
import static net.bytebuddy.matcher.ElementMatchers.nameStartsWith;
import static net.bytebuddy.matcher.ElementMatchers.not;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintWriter;
import java.lang.instrument.Instrumentation;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.LongAdder;
import java.util.regex.Pattern;
import lectus.store.testing.EventLoopWaits;
import net.bytebuddy.agent.builder.AgentBuilder;
import net.bytebuddy.asm.Advice;

/**
 * An agent in a server's JVM that counts the methods that threads enter on behalf of requests. It
 * connects to the port that is its argument, and answers each line with the counts since the one
 * before: {@code type count} on a line each, then an empty one.
 */
public final class EnteredMethods {
  /** The threads that work for requests; all others work whether there is one or not. */
  private static final Pattern WORKING =
      Pattern.compile("vert\\.x-eventloop.*|lectus-(executor|reader|commit)-.*|lectus-store-\\d+");

  private static final Map<String, LongAdder> COUNTS = new ConcurrentHashMap<>();

  private EnteredMethods() {}

  /** Called by the JVM before the server's {@code main}. */
  public static void premain(String port, Instrumentation instrumentation) throws IOException {
    new AgentBuilder.Default()
        .type(
            nameStartsWith("lectus.")
                .and(not(nameStartsWith(EnteredMethods.class.getName())))
                .and(not(nameStartsWith(EventLoopWaits.class.getPackageName()))))
        .transform(
            (builder, type, loader, module, domain) ->
                builder.visit(Advice.to(Entry.class).on(not(isAbstract()))))
        .installOn(instrumentation);
    Socket socket = new Socket(InetAddress.getLoopbackAddress(), Integer.parseInt(port));
    Thread thread = new Thread(() -> answer(socket), "entered-methods");
    thread.setDaemon(true);
    thread.start();
  }

  private static void answer(Socket socket) {
    try (BufferedReader lines =
            new BufferedReader(
                new InputStreamReader(socket.getInputStream(), StandardCharsets.UTF_8));
        PrintWriter answers =
            new PrintWriter(socket.getOutputStream(), true, StandardCharsets.UTF_8)) {
      while (lines.readLine() != null) {
        StringBuilder answer = new StringBuilder();
        COUNTS.forEach(
            (type, count) -> {
              long calls = count.sumThenReset();
              if (calls > 0) {
                answer.append(type).append(' ').append(calls).append('\n');
              }
            });
        answers.println(answer);
      }
    } catch (IOException e) {
      throw new IllegalStateException(e);
    }
  }

  /** Called by every method of the server. */
  public static void enter(String type) {
    if (WORKING.matcher(Thread.currentThread().getName()).matches()) {
      COUNTS.computeIfAbsent(type, name -> new LongAdder()).increment();
    }
  }

  /** What stands at the beginning of each method then. */
  private static final class Entry {
    @Advice.OnMethodEnter
    static void enter(@Advice.Origin("#t") String type) {
      EnteredMethods.enter(type);
    }
  }
}
