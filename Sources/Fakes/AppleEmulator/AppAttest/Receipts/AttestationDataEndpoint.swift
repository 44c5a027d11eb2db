import HTTPTypes
import Hummingbird

/// `POST /v1/attestationData`: exchanges a receipt for a receipt with a new risk metric.
///
/// Apple has a host for each environment. Here the environment is the name `data-development.appattest.apple.com`
/// in `Host`, or the path `/development/v1/attestationData`; everything else is production.
struct AttestationDataEndpoint: Sendable {
    static let developmentHost = "data-development.appattest.apple.com"
    static let productionHost = "data.appattest.apple.com"
    private static let bodyLimit = 64 * 1024

    let state: EmulatorState

    func add(to router: Router<EmulatorRequestContext>) {
        let faults = FaultInjection(state: state, endpoint: .attestationData)
        router.post("v1/attestationData") { request, context in
            let host = request.head.authority?.split(separator: ":").first
            let environment: AttestEnvironment =
                host?.lowercased() == Self.developmentHost ? .development : .production
            return try await faults.respond(to: request, on: context.channel) { request, _ in
                await response(to: request, in: environment)
            }
        }
        router.post("development/v1/attestationData") { request, context in
            try await faults.respond(to: request, on: context.channel) { request, _ in
                await response(to: request, in: .development)
            }
        }
    }

    private func response(to request: Request, in environment: AttestEnvironment) async -> EndpointResponse {
        do throws(ReceiptRefusal) {
            let token = request.headers[.authorization] ?? ""
            guard let buffer = try? await request.body.collect(upTo: Self.bodyLimit) else {
                throw ReceiptRefusal(status: 400, cause: "the body is larger than 64 KiB")
            }
            let receipt = try state.exchangeReceipt(
                String(decoding: buffer.readableBytesView, as: UTF8.self), token: token, in: environment)
            return EndpointResponse(
                contentType: "text/plain;charset=UTF-8", headers: [EndpointResponse.noStore],
                body: Array(receipt.utf8))
        } catch {
            state.count(error)
            return EndpointResponse(
                status: error.status, contentType: "text/plain;charset=UTF-8",
                body: error.status == 304 ? [] : Array(error.cause.utf8))
        }
    }
}

/// A refused exchange of a receipt. Apple documents the status only; the cause is for people.
struct ReceiptRefusal: Error, Equatable {
    let status: Int
    let cause: String
}
