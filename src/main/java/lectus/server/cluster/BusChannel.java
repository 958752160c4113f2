package lectus.server.cluster;

import io.vertx.core.Context;
import io.vertx.core.Vertx;
import io.vertx.core.eventbus.DeliveryOptions;
import io.vertx.core.eventbus.Message;
import io.vertx.core.eventbus.MessageConsumer;
import java.util.UUID;
import java.util.function.Consumer;
import lectus.feed.Registration;
import lectus.server.waking.DatabaseEvent;
import lectus.server.waking.DatabaseEventCodec;
import lectus.server.waking.EventChannel;

/**
 * Events over Vert.x's clustered event bus, which sends a message to the servers with a consumer at
 * its address. All consumers run on one event loop.
 */
final class BusChannel implements EventChannel {
  private static final String SENDER = "sender";

  private final Vertx vertx;
  private final Context context;
  private final String self = UUID.randomUUID().toString();
  private final DeliveryOptions delivery;

  BusChannel(Vertx vertx) {
    DatabaseEventCodec codec = new DatabaseEventCodec();
    vertx.eventBus().registerCodec(codec);
    this.vertx = vertx;
    this.context = vertx.getOrCreateContext();
    this.delivery = new DeliveryOptions().setCodecName(codec.name()).addHeader(SENDER, self);
  }

  static String name(int address) {
    return "lectus.database_event." + address;
  }

  @Override
  public void publish(DatabaseEvent event) {
    vertx.eventBus().publish(name(event.address()), event, delivery);
  }

  @Override
  public Registration subscribe(int address, Consumer<DatabaseEvent> receiver) {
    MessageConsumer<DatabaseEvent> consumer = vertx.eventBus().consumer(name(address));
    context.runOnContext(none -> consumer.handler(message -> receive(message, receiver)));
    return () -> context.runOnContext(none -> consumer.unregister());
  }

  private void receive(Message<DatabaseEvent> message, Consumer<DatabaseEvent> receiver) {
    if (!self.equals(message.headers().get(SENDER))) {
      receiver.accept(message.body());
    }
  }
}
