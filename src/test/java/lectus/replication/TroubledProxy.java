package lectus.replication;

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
final class TroubledProxy implements AutoCloseable {
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
  TroubledProxy(IntSupplier server, Random random) throws IOException {
    this.server = server;
    this.random = random;
    start(this::accept);
  }

  /** What becomes of a connection; but for two, it has one request. */
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

  int port() {
    return socket.getLocalPort();
  }

  void trouble(int most) {
    left.set(most);
  }

  /** Ends what is connected now. */
  void cut() {
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
    return new Plan(
        isTroubled ? all[Math.max(0, random.nextInt(2 * all.length) - all.length)] : Trouble.CUT,
        isTroubled ? 200 + random.nextInt(20_000) : Integer.MAX_VALUE,
        isTroubled ? 200 + random.nextInt(60_000) : Integer.MAX_VALUE,
        random.nextBoolean());
  }

  private void serve(Socket client, Plan plan) {
    try (client;
        Socket there = connect()) {
      open.add(there);
      switch (plan.trouble()) {
        case NONE -> once(client, there, client.getOutputStream());
        case CUT -> both(client, there, plan.up(), plan.down(), false);
        case SLOW -> both(client, there, Integer.MAX_VALUE, Integer.MAX_VALUE, true);
        case LOST -> once(client, there, OutputStream.nullOutputStream());
        case REFUSED -> refuse(client, plan.flag());
        case DOUBLED -> twice(client, there, plan.flag());
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
      request(client.getInputStream());
    }
    client.getOutputStream().write(answer);
    client.shutdownOutput();
    client.getInputStream().transferTo(OutputStream.nullOutputStream());
  }

  private static void once(Socket client, Socket server, OutputStream out) throws IOException {
    server.getOutputStream().write(request(client.getInputStream()));
    server.getInputStream().transferTo(out);
  }

  /** The client gets the second answer; both requests may be in work at a time. */
  private void twice(Socket client, Socket server, boolean together) throws IOException {
    byte[] request = request(client.getInputStream());
    if (new String(request, ISO_8859_1).contains("feed=longpoll")) {
      throw new IOException("A feed is lost: the first of two would not end.");
    }
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

  /** Returns a whole request, behind whose answer the server closes its connection. */
  private static byte[] request(InputStream in) throws IOException {
    StringBuilder head = new StringBuilder();
    while (head.length() < 4 || head.indexOf("\r\n\r\n", head.length() - 4) < 0) {
      int octet = in.read();
      if (octet < 0) {
        throw new IOException("There is no request.");
      }
      head.append((char) octet);
    }
    Matcher length = LENGTH.matcher(head);
    byte[] body = in.readNBytes(length.find() ? Integer.parseInt(length.group(1)) : 0);
    ByteArrayOutputStream whole = new ByteArrayOutputStream();
    whole.writeBytes(
        head.insert(head.indexOf("\r\n"), "\r\nConnection: close").toString().getBytes(ISO_8859_1));
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
