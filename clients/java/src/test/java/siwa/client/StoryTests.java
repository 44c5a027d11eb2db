package siwa.client;
import java.util.Map;
final class StoryTests { static void add(Map<String, Tests.Test> t) {} }
