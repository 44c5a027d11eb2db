import Dispatch
import EventDelivery
import HTTPEngine
import NIOCore
import Synchronization

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// Resolves host names to addresses.
protocol AddressResolver: Sendable {
    /// Returns all of a host's addresses as text; empty if it has none.
    ///
    /// - Throws: `DeliveryError` with the code `timed_out`.
    func addresses(of host: String) async throws(DeliveryError) -> [String]
}

/// Resolves names with the system's resolver. Each query runs on its own thread, and concurrent callers with
/// the same name share a query, so a hanging name server delays only receivers with its names.
final class SystemAddressResolver: AddressResolver {
    /// A caller's time limit. The query itself can continue in the background.
    static let timeLimit = DispatchTimeInterval.seconds(4)

    private let queue = DispatchQueue(label: "siwa.names", attributes: .concurrent)
    /// Each query's waiting callers, by host name.
    private let asked = Mutex<[String: [FirstAnswer]]>([:])
    private let lookUp: @Sendable (String) -> [String]

    /// - Parameter lookUp: Returns a name's addresses. It may block the thread.
    init(lookUp: @escaping @Sendable (String) -> [String] = SystemAddressResolver.lookUp) {
        self.lookUp = lookUp
    }

    /// Number of callers that wait for a query.
    var waiterCount: Int { asked.withLock { $0.values.reduce(0) { $0 + $1.count } } }

    func addresses(of host: String) async throws(DeliveryError) -> [String] {
        let found: [String]? = await withCheckedContinuation { continuation in
            let answer = FirstAnswer(continuation)
            let isFirst = asked.withLock { asked in
                asked[host, default: []].append(answer)
                return asked[host]?.count == 1
            }
            if isFirst { ask(host) }
            queue.asyncAfter(deadline: .now() + Self.timeLimit) { answer.give(nil) }
        }
        guard let found else { throw DeliveryError(.timedOut) }
        return found
    }

    private func ask(_ host: String) {
        queue.async {
            let addresses = self.lookUp(host)
            let waiting = self.asked.withLock { $0.removeValue(forKey: host) } ?? []
            for answer in waiting { answer.give(addresses) }
        }
    }

    static func lookUp(_ host: String) -> [String] {
        var hints = addrinfo()
        hints.ai_family = AF_UNSPEC
        // Without the socket type, the resolver would return each address three times.
        #if canImport(Glibc)
            hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        #else
            hints.ai_socktype = Int32(SOCK_STREAM)
        #endif
        var list: UnsafeMutablePointer<addrinfo>?
        guard getaddrinfo(host, nil, &hints, &list) == 0, let first = list else { return [] }
        defer { freeaddrinfo(first) }
        var addresses: [String] = []
        var next: UnsafeMutablePointer<addrinfo>? = first
        while let entry = next {
            // An IPv6 address with its interface name has at most 62 characters.
            let size = 128
            var text = [CChar](repeating: 0, count: size)
            let status = getnameinfo(
                entry.pointee.ai_addr, entry.pointee.ai_addrlen, &text, socklen_t(size), nil, 0,
                NI_NUMERICHOST)
            if status == 0 {
                let bytes = text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }
                addresses.append(String(decoding: bytes, as: UTF8.self))
            }
            next = entry.pointee.ai_next
        }
        return addresses
    }
}

/// Keeps the first of two results: the addresses or the timeout.
private final class FirstAnswer: Sendable {
    private let waiting: Mutex<CheckedContinuation<[String]?, Never>?>

    init(_ continuation: CheckedContinuation<[String]?, Never>) {
        waiting = Mutex(continuation)
    }

    func give(_ addresses: [String]?) {
        let continuation = waiting.withLock { waiting in
            defer { waiting = nil }
            return waiting
        }
        continuation?.resume(returning: addresses)
    }
}

/// Checks the addresses that a receiver's name resolves to, so that no name can give access to the service's
/// private network (server-side request forgery).
struct DestinationAddresses: Sendable {
    /// Private networks that the operator allows for this receiver.
    let allowed: [AddressBlock]

    /// Networks that contain public internet addresses. No other part of IPv6 is assigned (IANA's registry of
    /// global unicast addresses). IPv4-mapped IPv6 addresses are treated as IPv4 addresses.
    private static let assigned: [AddressBlock] = ["0.0.0.0/0", "2000::/3"].compactMap { AddressBlock($0) }

    /// Networks within `assigned` that do not belong to the public internet or have a special purpose (IANA's
    /// registries of special-purpose addresses), and networks whose addresses contain IPv4 addresses.
    static let special: [AddressBlock] = [
        "0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12",
        "192.0.0.0/24", "192.0.2.0/24", "192.31.196.0/24", "192.52.193.0/24", "192.88.99.0/24",
        "192.168.0.0/16", "192.175.48.0/24", "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24",
        "224.0.0.0/4", "240.0.0.0/4", "2001::/23", "2001:db8::/32", "2002::/16", "2620:4f:8000::/48",
        "3fff::/20",
    ].compactMap { AddressBlock($0) }

    /// Returns true if the service may connect to this address. Refuses any text other than an address
    /// without brackets or port.
    func allow(_ text: String) -> Bool {
        guard let address = try? SocketAddress(ipAddress: text, port: 0) else { return false }
        let isPublic =
            Self.assigned.contains { $0.contains(address) } && !Self.special.contains { $0.contains(address) }
        return isPublic || allowed.contains { $0.contains(address) }
    }
}
