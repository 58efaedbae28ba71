//go:build !nos3

package objects

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"net/url"
	"slices"

	"github.com/minio/minio-go/v7"
)

// fullCodes and refusedCodes are codes of S3 whose status does not tell them apart.
var (
	fullCodes    = []string{"InsufficientStorage", "QuotaExceeded", "XMinioStorageFull", "XMinioAdminBucketQuotaExceeded", "StorageFull"}
	refusedCodes = []string{"AccessDenied", "InvalidAccessKeyId", "SignatureDoesNotMatch", "AuthorizationHeaderMalformed", "ExpiredToken", "InvalidToken", "RequestTimeTooSkewed"}
)

// s3Error returns an error of the library as one of this package. Errors of addresses lose the address, because its query may have a signature.
func s3Error(err error) error {
	var response minio.ErrorResponse
	var address *url.Error
	switch {
	case err == nil, errors.Is(err, ErrSize), errors.Is(err, ErrUnreachable):
		return err
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return err
	case errors.As(err, &response):
		return s3Response(response)
	case errors.As(err, &address):
		var certificate *tls.CertificateVerificationError
		if errors.As(err, &certificate) {
			return as(ErrIdentity, certificate)
		}
		return as(ErrUnreachable, address.Err)
	}
	return err
}

// s3Response returns the error of a response.
func s3Response(r minio.ErrorResponse) error {
	err := fmt.Errorf("%d %s: %w", r.StatusCode, r.Code, r)
	switch {
	case slices.Contains(fullCodes, r.Code) || r.StatusCode == http.StatusInsufficientStorage:
		return as(ErrFull, err)
	case slices.Contains(refusedCodes, r.Code):
		return as(ErrRefused, err)
	case r.Code == minio.NoSuchKey || r.StatusCode == http.StatusNotFound && r.Code != minio.NoSuchBucket:
		return as(fs.ErrNotExist, err)
	case r.Code == minio.NoSuchBucket:
		return err // never fs.ErrNotExist, which would mean that an object is lost
	case r.StatusCode == http.StatusPreconditionFailed, r.StatusCode == http.StatusConflict && r.Code == "ConditionalRequestConflict":
		return as(ErrCondition, err)
	case r.StatusCode == http.StatusUnauthorized, r.StatusCode == http.StatusForbidden:
		return as(ErrRefused, err)
	case r.StatusCode == http.StatusNotImplemented:
		return as(errors.ErrUnsupported, err)
	case r.StatusCode >= 300 && r.StatusCode < 400:
		return fmt.Errorf("the server redirects, which is not followed: check endpoint and region: %w", err)
	case r.StatusCode >= 500, r.StatusCode == http.StatusTooManyRequests, r.StatusCode == http.StatusRequestTimeout:
		return as(ErrUnreachable, err)
	}
	return err
}

// unwrapS3 returns the response that an error has, because the library's own function does not look for it.
func unwrapS3(err error) error {
	var response minio.ErrorResponse
	if errors.As(err, &response) {
		return response
	}
	return err
}
