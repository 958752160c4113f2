package lectus.http.testing;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.function.IntSupplier;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Passes connections on to a server, some of them with trouble. */
public final class TroubledProxy implements AutoCloseable {
  /** A request or an answer of which nobody knows where it ends. */
  private static final Pattern ENDLESS =
      Pattern.compile(
          "[?&]feed=(longpoll|continuous|eventsource)|\r\n(transfer-encoding|upgrade):",
          Pattern.CASE_INSENSITIVE);

  private static final Pattern LENGTH =
      Pattern.compile("\r\ncontent-length: *([0-9]+)\r\n", Pattern.CASE_INSENSITIVE);

  private final ServerSocket socket = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
  private final IntSupplier server;
  private final Random random;
  private final Set<Socket> open = ConcurrentHashMap.newKeySet();
  private final AtomicInteger left = new AtomicInteger();

  /**
   * @param server its port now
   */
  public TroubledProxy(IntSupplier server, Random random) throws IOException {
    this.server = server;
    this.random = random;
    start(this::accept);
  }

  /**
   * What becomes of a connection; but for two, it has one request. What is endless may be cut, or
   * its answer lost.
   */
  private enum Trouble {
    NONE,
    /** It ends after some bytes, with whatever requests are in them. */
    CUT,
    /** It has any number of requests, in small pieces. */
    SLOW,
    /** The answer does not come. */
    LOST,
    /** The server is busy, it says. */
    REFUSED,
    /** The request arrives twice. */
    DOUBLED
  }

  /**
   * @param up how many bytes pass to the server
   * @param down how many bytes pass back
   */
  private record Plan(Trouble trouble, int up, int down, boolean flag) {}

  public int port() {
    return socket.getLocalPort();
  }

  public void trouble(int most) {
    left.set(most);
  }

  /** Ends what is connected now. */
  public void cut() {
    open.forEach(TroubledProxy::close);
  }

  private static void start(Runnable task) {
    Thread thread = new Thread(task, "troubled-proxy");
    thread.setDaemon(true);
    thread.start();
  }

  private void accept() {
    try {
      while (true) {
        Socket client = socket.accept();
        open.add(client);
        Plan plan = plan();
        start(() -> serve(client, plan));
      }
    } catch (IOException closed) {
      // The round is over.
    }
  }

  private Plan plan() {
    boolean isTroubled = left.getAndUpdate(it -> Math.max(0, it - 1)) > 0;
    Trouble[] all = Trouble.values();
    Trouble trouble =
        isTroubled ? all[Math.max(0, random.nextInt(2 * all.length) - all.length)] : Trouble.CUT;
    boolean isLimited = isTroubled && trouble != Trouble.NONE;
    return new Plan(
        trouble,
        isLimited ? 200 + random.nextInt(20_000) : Integer.MAX_VALUE,
        isLimited ? 200 + random.nextInt(60_000) : Integer.MAX_VALUE,
        random.nextBoolean());
  }

  private void serve(Socket client, Plan plan) {
    try (client;
        Socket there = connect()) {
      open.add(there);
      switch (plan.trouble()) {
        case CUT -> both(client, there, plan.up(), plan.down(), false);
        case SLOW -> both(client, there, Integer.MAX_VALUE, Integer.MAX_VALUE, true);
        case REFUSED -> refuse(client, plan.flag());
        case NONE, LOST, DOUBLED -> one(client, there, plan);
      }
      open.remove(there);
    } catch (IOException cut) {
      // The client sees it.
    } finally {
      open.remove(client);
    }
  }

  private Socket connect() throws IOException {
    return new Socket(InetAddress.getLoopbackAddress(), server.getAsInt());
  }

  private void both(Socket client, Socket server, int up, int down, boolean isSlow) {
    start(() -> pass(client, server, up, isSlow));
    pass(server, client, down, isSlow);
  }

  /** When one direction ends, both do. */
  private static void pass(Socket from, Socket to, int most, boolean isSlow) {
    try (from;
        to) {
      InputStream in = from.getInputStream();
      OutputStream out = to.getOutputStream();
      byte[] some = new byte[isSlow ? 300 : 8_192];
      int left = most;
      int read = in.read(some, 0, Math.min(Math.max(left, 1), some.length));
      while (read >= 0 && left > 0) {
        out.write(some, 0, read);
        left -= read;
        if (isSlow) {
          LockSupport.parkNanos(200_000);
        }
        read = in.read(some, 0, Math.min(Math.max(left, 1), some.length));
      }
    } catch (IOException cut) {
      // The other direction has ended.
    }
  }

  /** Before the body has come, or behind it. */
  private void refuse(Socket client, boolean isEarly) throws IOException {
    byte[] answer =
        ("HTTP/1.1 503 Service Unavailable\r\nConnection: close\r\nRetry-After: 0\r\n"
                + "Content-Length: 2\r\n\r\n{}")
            .getBytes(ISO_8859_1);
    if (!isEarly) {
      InputStream in = client.getInputStream();
      rest(head(in), in);
    }
    client.getOutputStream().write(answer);
    client.shutdownOutput();
    client.getInputStream().transferTo(OutputStream.nullOutputStream());
  }

  private void one(Socket client, Socket server, Plan plan) throws IOException {
    InputStream in = client.getInputStream();
    String head = head(in);
    if (ENDLESS.matcher(head).find()) {
      server.getOutputStream().write(head.getBytes(ISO_8859_1));
      both(client, server, plan.up(), plan.trouble() == Trouble.LOST ? 0 : plan.down(), false);
      return;
    }
    byte[] request = rest(head, in);
    if (plan.trouble() == Trouble.DOUBLED) {
      twice(request, client, server, plan.flag());
    } else {
      server.getOutputStream().write(request);
      server
          .getInputStream()
          .transferTo(
              plan.trouble() == Trouble.LOST
                  ? OutputStream.nullOutputStream()
                  : client.getOutputStream());
    }
  }

  /** The client gets the second answer; both requests may be in work at a time. */
  private void twice(byte[] request, Socket client, Socket server, boolean together)
      throws IOException {
    try (Socket first = connect()) {
      open.add(first);
      first.getOutputStream().write(request);
      if (together) {
        server.getOutputStream().write(request);
      }
      first.getInputStream().readAllBytes();
      open.remove(first);
    }
    if (!together) {
      server.getOutputStream().write(request);
    }
    server.getInputStream().transferTo(client.getOutputStream());
  }

  private static String head(InputStream in) throws IOException {
    StringBuilder head = new StringBuilder();
    while (head.length() < 4 || head.indexOf("\r\n\r\n", head.length() - 4) < 0) {
      int octet = in.read();
      if (octet < 0) {
        throw new IOException("There is no request.");
      }
      head.append((char) octet);
    }
    return head.toString();
  }

  /** Returns a whole request, behind whose answer the server closes its connection. */
  private static byte[] rest(String head, InputStream in) throws IOException {
    Matcher length = LENGTH.matcher(head);
    byte[] body = in.readNBytes(length.find() ? Integer.parseInt(length.group(1)) : 0);
    ByteArrayOutputStream whole = new ByteArrayOutputStream();
    whole.writeBytes(head.replaceFirst("\r\n", "\r\nConnection: close\r\n").getBytes(ISO_8859_1));
    whole.writeBytes(body);
    return whole.toByteArray();
  }

  private static void close(Socket socket) {
    try {
      socket.close();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @Override
  public void close() {
    cut();
    try {
      socket.close();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
