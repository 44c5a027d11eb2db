import EmulatorServer
import HTTPTypes
import Hummingbird
import StrictJSON

/// The control API under `/control`, for tests and terminals.
struct ControlRoutes: Sendable {
    let state: ReceiverState

    func add(to group: RouterGroup<ReceiverRequestContext>) {
        on(group, .get, "") { _ in .json(await overview()) }
        on(group, .get, "messages") { call in try messages(call) }
        on(group, .delete, "messages") { call in
            try call.requireNoInput()
            state.update { $0.log.clear() }
            return try messages(call)
        }
        on(group, .get, "faults") { _ in .json(faults()) }
        on(group, .delete, "faults") { call in
            try call.requireNoInput()
            for receiver in EmulatedReceiver.allCases { await state.recover(receiver) }
            return .json(faults())
        }
        on(group, .put, "faults/:receiver") { call in
            let receiver = try Self.receiver(call.pathPart("receiver"))
            let fault = try call.input { body throws(EmulatorError) in try body.receiverFault() }
            try state.setFault(fault, of: receiver)
            return .json(faults())
        }
        on(group, .delete, "faults/:receiver") { call in
            try call.requireNoInput()
            await state.recover(try Self.receiver(call.pathPart("receiver")))
            return .json(faults())
        }
    }

    static func receiver(_ name: String) throws(EmulatorError) -> EmulatedReceiver {
        guard let receiver = EmulatedReceiver(rawValue: name) else {
            let names = EmulatedReceiver.allCases.map(\.rawValue).joined(separator: ", ")
            throw EmulatorError(.receiverNotFound, detail: "the receivers are \(names)")
        }
        return receiver
    }

    private func overview() async -> JSONObject {
        let (sender, urls, dropped, followed, total) = state.update {
            ($0.sender, $0.urls, $0.dropped, $0.followed, $0.log.lastNumber)
        }
        let status = await sender.status()
        let receivers = EmulatedReceiver.allCases.map { receiver in
            var json = JSONObject([("name", .string(receiver.rawValue))])
            json["url"] = urls[receiver].map { .string($0) }
            json["status"] = status[receiver.rawValue].map { .string($0) }
            json["dropped"] = .integer(Int64(dropped[receiver] ?? 0))
            return JSONValue.object(json)
        }
        var json = JSONObject([
            ("receivers", .array(receivers)), ("messages", .integer(Int64(total))),
            ("redirects_followed", .integer(Int64(followed))), ("audience", .string(state.checks.audience)),
        ])
        json["issuer"] = sender.issuer.map { .string($0) }
        return json
    }

    /// The latest messages, the oldest first.
    private func messages(_ call: ControlRequest) throws(EmulatorError) -> Response {
        let receiver = try call.query["receiver"].map { name throws(EmulatorError) in
            try Self.receiver(String(name))
        }
        let type = call.query["type"].map(String.init)
        let limit = try call.number("limit", in: 1...MessageLog.capacity, default: MessageLog.capacity)
        let found = state.messages.filter { message in
            (receiver == nil || message.receiver == receiver) && (type == nil || message.event?.type == type)
        }.suffix(limit)
        guard call.query["format"] == "text" else {
            return .json(JSONObject([("messages", .array(found.map { .object($0.json) }))]))
        }
        let lines = found.map { "\($0.line)\n" }.joined()
        return .uncached(.ok, "text/plain; charset=utf-8", Array(lines.utf8))
    }

    private func faults() -> JSONObject {
        let faults = state.update { $0.faults }
        return JSONObject(
            EmulatedReceiver.allCases.compactMap { receiver in
                faults[receiver].map { (receiver.rawValue, .object($0.json)) }
            })
    }

    private func on(
        _ group: RouterGroup<ReceiverRequestContext>, _ method: HTTPRequest.Method, _ path: RouterPath,
        _ respond: @escaping @Sendable (ControlRequest) async throws -> Response
    ) {
        group.on(path, method: method) { request, context in
            try await respond(ControlRequest(request, context))
        }
    }
}
