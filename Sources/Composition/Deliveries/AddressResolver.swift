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

/// Finds the addresses of a host name.
protocol AddressResolver: Sendable {
    /// Returns every address, as text; none for a name without addresses.
    ///
    /// - Throws: `DeliveryError` `timed_out`.
    func addresses(of host: String) async throws(DeliveryError) -> [String]
}

/// Asks the system. Each question has a thread of its own, and callers that ask for a name at the same time
/// share one question, so that a name server that hangs delays the receivers of its names only.
final class SystemAddressResolver: AddressResolver {
    /// A question can take longer in the background.
    static let timeLimit = DispatchTimeInterval.seconds(4)

    private let queue = DispatchQueue(label: "siwa.names", attributes: .concurrent)
    /// The callers that wait for each question.
    private let asked = Mutex<[String: [FirstAnswer]]>([:])
    private let lookUp: @Sendable (String) -> [String]

    /// - Parameter lookUp: Returns the addresses of a name. It may block its thread.
    init(lookUp: @escaping @Sendable (String) -> [String] = SystemAddressResolver.lookUp) {
        self.lookUp = lookUp
    }

    /// Number of callers that wait.
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
        // The kind of socket keeps each address from coming three times.
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
            // An address of IPv6 with the name of an interface has at most 62 characters.
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

/// Takes the first of two answers.
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

/// Decides to which addresses a receiver's name may lead, so that a name cannot lead into the network behind
/// the service (server-side request forgery).
struct DestinationAddresses: Sendable {
    /// Private networks that the operator allows for this receiver.
    let allowed: [AddressBlock]

    /// The networks of which parts are on the public internet. Of IPv6 no more is assigned (IANA's registry of
    /// global unicast addresses). Addresses of IPv4 that are mapped into IPv6 count as those of IPv4.
    private static let assigned: [AddressBlock] = ["0.0.0.0/0", "2000::/3"].compactMap { AddressBlock($0) }

    /// Every network of `assigned` that is not on the public internet, or serves a purpose of its own there
    /// (IANA's registries of special-purpose addresses), and networks whose addresses stand for addresses of
    /// IPv4.
    static let special: [AddressBlock] = [
        "0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12",
        "192.0.0.0/24", "192.0.2.0/24", "192.31.196.0/24", "192.52.193.0/24", "192.88.99.0/24",
        "192.168.0.0/16", "192.175.48.0/24", "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24",
        "224.0.0.0/4", "240.0.0.0/4", "2001::/23", "2001:db8::/32", "2002::/16", "2620:4f:8000::/48",
        "3fff::/20",
    ].compactMap { AddressBlock($0) }

    /// - Parameter text: An address without brackets and port. A text that is no address is not allowed.
    func allow(_ text: String) -> Bool {
        guard let address = try? SocketAddress(ipAddress: text, port: 0) else { return false }
        let isPublic =
            Self.assigned.contains { $0.contains(address) } && !Self.special.contains { $0.contains(address) }
        return isPublic || allowed.contains { $0.contains(address) }
    }
}
