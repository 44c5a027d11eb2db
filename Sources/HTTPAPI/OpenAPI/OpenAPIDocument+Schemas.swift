import AppleAccounts

extension OpenAPIDocument {
    /// What calls answer.
    static var schemas: String {
        #"""
            SignInOutcome:
              type: object
              required: [account, credential, is_new_account]
              properties:
                account: { $ref: "#/components/schemas/Account" }
                credential: { $ref: "#/components/schemas/Credential" }
                is_new_account: { type: boolean }
            Account:
              type: object
              required: [id, team_id, sub, email_forwarding, created_at, credentials]
              properties:
                id: { type: string }
                team_id: { type: string }
                sub: { type: string }
                email: { type: string }
                email_verified: { type: boolean }
                is_private_email: { type: boolean }
                email_forwarding: { type: string, enum: [enabled, disabled, unknown] }
                first_name: { type: string }
                last_name: { type: string }
                real_user_status: { type: integer }
                created_at: { $ref: "#/components/schemas/Time" }
                last_sign_in_at: { $ref: "#/components/schemas/Time" }
                credentials:
                  type: array
                  items: { $ref: "#/components/schemas/Credential" }
            Credential:
              type: object
              required: [client_id, state]
              properties:
                client_id: { type: string, description: "The app's primary one." }
                state: { type: string, enum: [authorized, revoked, notFound] }
                reason: { type: string, enum: [signed_in, consent_revoked, apple_account_deleted, refresh_token_rejected, erased] }
                source: { type: string, enum: [sign_in, notification, daily_check, erasure] }
                since: { $ref: "#/components/schemas/Time" }
                refresh_token:
                  type: string
                  enum: [held, pending, unavailable]
                  description: Absent while no authorization code ever came.
                refresh_token_cause:
                  type: string
                  description: Only when unavailable.
                  enum: [\#(list(RefreshTokenCause.allCases.map(\.rawValue)))]
            Event:
              type: object
              required: [id, type, team_id, occurred_at, recorded_at]
              properties:
                id: { type: string }
                type: { type: string, enum: [\#(list(AccountEvent.Kind.allCases.map(\.rawValue)))] }
                team_id: { type: string }
                sub: { type: string, description: "Absent for a person who was erased." }
                account_id: { type: string }
                client_id: { type: string }
                reason: { type: string }
                source: { type: string }
                occurred_at: { $ref: "#/components/schemas/Time" }
                recorded_at: { $ref: "#/components/schemas/Time" }
            ErasureAnswer:
              type: object
              required: [erasure]
              properties:
                erasure: { $ref: "#/components/schemas/Erasure" }
            Erasure:
              type: object
              required: [id, account_id, state, requested_at, personal_data, tokens, user_must_revoke]
              properties:
                id: { type: string }
                account_id: { type: string }
                state: { type: string, enum: [in_progress, completed] }
                requested_at: { $ref: "#/components/schemas/Time" }
                finished_at: { $ref: "#/components/schemas/Time" }
                personal_data: { type: string, const: erased }
                tokens:
                  type: array
                  items:
                    type: object
                    required: [client_id, outcome, attempts]
                    properties:
                      client_id: { type: string, description: "The one that the token was issued to." }
                      outcome: { type: string, enum: [pending, revoked_and_proven, not_revoked] }
                      cause: { type: string }
                      attempts: { type: integer }
                user_must_revoke: { type: boolean }
                user_must_revoke_at:
                  type: array
                  items:
                    type: object
                    required: [client_id, cause]
                    properties:
                      client_id: { type: string }
                      cause: { type: string }
                instructions: { type: string, description: "For the person, when they must revoke by hand." }
            Problem:
              type: object
              required: [type, title, status, code, detail, request_id]
              properties:
                type: { type: string, examples: ["urn:siwa:problem:token_expired"] }
                title: { type: string }
                status: { type: integer }
                code:
                  type: string
                  description: Stable. Callers branch on it, and on nothing else.
                  enum: [\#(list(codes))]
                detail: { type: string }
                member: { type: string }
                parameter: { type: string }
                request_id: { type: string }

        """#
    }
}
