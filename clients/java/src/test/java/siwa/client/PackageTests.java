package siwa.client;
import java.util.Map;
final class PackageTests { static void add(Map<String, Tests.Test> t) {} }
