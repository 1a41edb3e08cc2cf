//! Tables that Python receives without a copy: Arrow's PyCapsule interface.

use arrow_array::ffi::FFI_ArrowSchema;
use arrow_array::ffi_stream::FFI_ArrowArrayStream;
use arrow_array::{RecordBatch, RecordBatchIterator};
use arrow_ipc::reader::StreamReader;
use arrow_ipc::writer::StreamWriter;
use arrow_schema::{ArrowError, Schema};
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyCapsule};
use std::sync::Arc;

/// A table in memory. Libraries with the Arrow PyCapsule interface can read it, any number of
/// times.
#[pyclass(frozen, module = "ackclock._native")]
pub(crate) struct Table {
    schema: Arc<Schema>,
    batches: Vec<RecordBatch>,
}

impl Table {
    pub(crate) fn new(schema: Arc<Schema>, batches: Vec<RecordBatch>) -> Self {
        Table { schema, batches }
    }
}

#[pymethods]
impl Table {
    /// An ArrowArrayStream of the table. It has the table's own schema, whatever schema is
    /// requested.
    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        // The interface lets a producer ignore the requested schema; the consumer then casts.
        let _ = requested_schema;
        let batches = self.batches.clone().into_iter().map(Ok);
        let stream = FFI_ArrowArrayStream::new(Box::new(RecordBatchIterator::new(batches, self.schema.clone())));
        PyCapsule::new_with_value(py, stream, c"arrow_array_stream")
    }

    /// An ArrowSchema of the table.
    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        let schema = FFI_ArrowSchema::try_from(self.schema.as_ref()).map_err(refused)?;
        PyCapsule::new_with_value(py, schema, c"arrow_schema")
    }

    /// Reads a table from an Arrow IPC stream.
    #[staticmethod]
    fn of_bytes(bytes: &[u8]) -> PyResult<Self> {
        let reader = StreamReader::try_new(bytes, None).map_err(refused)?;
        let schema = reader.schema();
        let batches = reader.collect::<Result<_, _>>().map_err(refused)?;
        Ok(Table { schema, batches })
    }

    /// The form in which it is pickled and copied: an Arrow IPC stream.
    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyAny>, (Bound<'py, PyBytes>,))> {
        let mut writer = StreamWriter::try_new(Vec::new(), &self.schema).map_err(refused)?;
        self.batches.iter().try_for_each(|batch| writer.write(batch)).map_err(refused)?;
        let bytes = writer.into_inner().map_err(refused)?;
        Ok((py.get_type::<Self>().getattr("of_bytes")?, (PyBytes::new(py, &bytes),)))
    }

    fn __len__(&self) -> usize {
        self.batches.iter().map(RecordBatch::num_rows).sum()
    }
}

/// The error for columns that do not fit together.
pub(crate) fn refused(e: ArrowError) -> PyErr {
    PyRuntimeError::new_err(e.to_string())
}
