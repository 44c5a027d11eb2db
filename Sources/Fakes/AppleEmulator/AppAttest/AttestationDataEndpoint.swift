import Cryptography
import EmulatorServer
import Encodings
import HTTPTypes
import Hummingbird
import JOSE
import StrictJSON
import Synchronization

/// Handles `POST /v1/attestationData`: exchanges a receipt for a receipt with a new risk metric.
///
/// Apple has a separate host for each environment. The fake Apple selects development if `Host` is
/// `data-development.appattest.apple.com` or the path is `/development/v1/attestationData`, and production
/// otherwise.
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

/// A refused receipt exchange. Apple documents only the status; the cause is for developers.
struct ReceiptRefusal: Error, Equatable {
    let status: Int
    let cause: String
}

extension EmulatorState {
    /// Exchanges a receipt, and returns the new receipt in base64. Throws the refusal that Apple would send.
    ///
    /// - Parameters:
    ///   - body: The receipt in base64.
    ///   - token: The value of the `Authorization` header: a JWT without a scheme.
    func exchangeReceipt(
        _ body: String, token: String, in environment: AttestEnvironment
    ) throws(ReceiptRefusal) -> String {
        let now = now
        let teamID = try authenticate(token, at: now / 1000)
        guard let bytes = Base64.decode(body), !bytes.isEmpty else {
            throw ReceiptRefusal(status: 400, cause: "the body is not a receipt in base64")
        }
        let digest = Hexadecimal.encode(SHA256Digest.hash(bytes))
        let found = world.withLock { world in
            world.deviceKeys.receipt(digest).map { found in
                (found.key, found.receipt, world.deviceKeys.riskMetric(of: found.key, at: now))
            }
        }
        guard let (key, receipt, metric) = found else {
            throw ReceiptRefusal(status: 404, cause: "no data for this receipt")
        }
        guard key.environment == environment else {
            throw ReceiptRefusal(status: 400, cause: "the receipt is of the other environment")
        }
        guard key.teamID.isByteEqual(to: teamID) else {
            throw ReceiptRefusal(status: 401, cause: "iss is not the team of the app")
        }
        guard receipt.expiresAt > now else {
            throw ReceiptRefusal(status: 400, cause: "the receipt has expired")
        }
        guard now - key.attestedAt <= DeviceKeyRegistry.memory else {
            throw ReceiptRefusal(status: 404, cause: "no data for this receipt")
        }
        if let notBefore = receipt.notBefore, notBefore > now {
            throw ReceiptRefusal(status: 304, cause: "too early")
        }
        let notBefore = now + Self.receiptPause
        var fields = ReceiptFields(
            appID: key.appID, leaf: Base64.decode(receipt.leaf) ?? [],
            clientDataHash: Base64.decode(receipt.clientDataHash) ?? [],
            environment: environment, createdAt: now)
        fields.refresh = (metric: metric, notBefore: notBefore)
        do throws(EmulatorError) {
            let made = try authorities().receipts.sign(fields.content, isDefinite: true)
            let issued = IssuedReceipt(
                digest: Hexadecimal.encode(SHA256Digest.hash(made)), notBefore: notBefore,
                expiresAt: now + ReceiptFields.lifetime, leaf: receipt.leaf,
                clientDataHash: receipt.clientDataHash)
            try world.withLock { world throws(EmulatorError) in
                try world.deviceKeys.update(key.keyID) { key throws(EmulatorError) in key.remember(issued) }
                world.counters.receipts += 1
            }
            return Base64.encode(made)
        } catch {
            throw ReceiptRefusal(status: 500, cause: "the receipt could not be signed")
        }
    }

    /// The pause that Apple requires between two exchanges: 24 hours.
    private static let receiptPause: Int64 = 86_400_000

    /// Returns the team that the token names. The token has `iss` and `iat`, and is signed with ES256 by one
    /// of the team's keys, like a client secret.
    ///
    /// - Parameter now: Seconds since 1970.
    private func authenticate(_ token: String, at now: Int64) throws(ReceiptRefusal) -> String {
        let read: ClientSecret
        do throws(OAuthError) {
            read = try ClientSecret(token)
        } catch {
            throw ReceiptRefusal(status: 401, cause: "Authorization is not a JWT by ES256, without Bearer")
        }
        guard let issuer = read.claims["iss"]?.string,
            let key = world.withLock({ $0.clientKeys.key(read.keyID, of: issuer) })
        else {
            throw ReceiptRefusal(status: 401, cause: "the team of iss has no key with this kid")
        }
        guard key.publicKey.isValidSignature(read.signature, for: read.signedBytes[...]) else {
            throw ReceiptRefusal(status: 401, cause: "the signature is not by this key")
        }
        guard let issuedAt = read.claims["iat"]?.integer, (now - Self.tokenAge...now + 60).contains(issuedAt)
        else {
            throw ReceiptRefusal(status: 401, cause: "iat is not within the last hour")
        }
        return issuer
    }

    /// Maximum token age in seconds.
    private static let tokenAge: Int64 = 3600

    func count(_ refusal: ReceiptRefusal) {
        world.withLock { world in
            if refusal.status == 304 {
                world.counters.receiptsTooEarly += 1
            } else {
                world.counters.refusals[.attestationData, default: 0] += 1
            }
        }
    }
}
